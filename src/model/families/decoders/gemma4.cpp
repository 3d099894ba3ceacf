#include "../family.hpp"
#include "common.hpp"
#include "layer_list.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace gpuplan {
namespace {

/// Inputs of each layer from a second embedding table, mixed in through a gate (Gemma 3n and 4).
void add_layer_inputs(Fields& in, Architecture& a, std::int64_t width) {
  const std::int64_t layers = listed_layers(a);
  const std::int64_t wide = layers * width;
  const std::int64_t vocab = in.count_or({"vocab_size_per_layer_input"}, a.vocab);
  a.others.push_back({"layer_embedding", TensorRole::embedding, Sharding::vocabulary, 1, vocab, wide, 0, 0});
  a.others.push_back({"layer_inputs", TensorRole::projection, Sharding::replicated, 1, wide, a.hidden, 0});
  a.others.push_back({"layer_inputs_norm", TensorRole::norm, Sharding::replicated, 1, width, 1, 0});
  const auto of_each = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    a.others.push_back({name, TensorRole::projection, Sharding::replicated, layers, rows, columns, layers});
  };
  of_each("layers.*.input_gate", width, a.hidden);
  of_each("layers.*.input_projection", a.hidden, width);
  a.others.push_back({"layers.*.input_norm", TensorRole::norm, Sharding::replicated, layers, a.hidden, 1, layers});
}

void add_vectors(Architecture& a, const char* name, TensorRole role, std::int64_t width, std::int64_t each = 1) {
  const std::int64_t layers = listed_layers(a);
  a.others.push_back({name, role, Sharding::replicated, each * layers, width, 1, layers});
}

bool slides(const std::vector<std::string>& types, std::int64_t i) {
  const auto place = static_cast<std::size_t>(i);
  return place < types.size() && types[place] == "sliding_attention";
}

/// Experts beside the MLP: a router that scales its input and its experts, three norms more.
void read_side_experts(Fields& in, Architecture& a, LayerList& layers) {
  Architecture routed;
  read_experts(in, routed, {"num_experts"}, {"top_k_experts", "num_experts_per_tok"}, {"moe_intermediate_size"});
  layers.mlp(routed, a.layers);
  a.norms_per_layer += 3;
  add_vectors(a, "layers.*.router_scale", TensorRole::router, a.hidden);
  add_vectors(a, "layers.*.expert_scales", TensorRole::router, routed.experts);
}

/// AltUp's copies of the residual, each predicted and corrected, and LAuReL's low-rank residual (Gemma 3n).
void add_altup(Fields& in, Architecture& a) {
  const std::int64_t copies = std::min<std::int64_t>(in.count_or({"altup_num_inputs"}, 4), 10000);
  const std::int64_t rank = in.count_or({"laurel_rank"}, 64);
  const std::int64_t layers = listed_layers(a);
  const auto of_each = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    a.others.push_back({name, TensorRole::projection, Sharding::replicated, layers, rows, columns, layers});
  };
  of_each("layers.*.altup.correction", copies, copies);
  of_each("layers.*.altup.prediction", copies * copies, copies);
  of_each("layers.*.altup.router", copies, a.hidden);
  of_each("layers.*.laurel.left", rank, a.hidden);
  of_each("layers.*.laurel.right", a.hidden, rank);
  add_vectors(a, "layers.*.altup.scale", TensorRole::state, a.hidden);
  a.norms_per_layer += 2;  // of AltUp's router and of LAuReL
  a.others.push_back(
      {"altup.projections", TensorRole::projection, Sharding::replicated, 2 * (copies - 1), a.hidden, a.hidden, 0});
}

/// The shape that Gemma 3n and 4 share.
void read_gemma_heads(Fields& in, Architecture& a) {
  a.layers = in.count({"num_hidden_layers"});
  a.hidden = in.count({"hidden_size"});
  a.vocab = in.count({"vocab_size"});
  a.max_position = in.amount_or({"max_position_embeddings"}, 131072);
  a.heads = in.count({"num_attention_heads"});
  a.kv_heads = in.count({"num_key_value_heads"});
  a.head_dim = in.count_or({"head_dim"}, 256);
  a.norms_per_layer = 4;
  a.qk_norm = QkNorm::per_head;
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
}

/// Layers from the returned one on read the keys and values of earlier ones.
std::int64_t first_sharing_layer(Fields& in, const Architecture& a, std::int64_t otherwise) {
  return a.layers - std::min(in.amount_or({"num_kv_shared_layers"}, otherwise), a.layers);
}

}  // namespace

/// Gemma 4: full layers have wider heads, whose values may be their keys; the last layers may share keys and values, with
/// MLPs twice as wide; inputs of each layer in the small models, experts beside the MLP in the mixtures.
void read_gemma4(Fields& in, Architecture& a) {
  read_gemma_heads(in, a);
  const std::vector<std::string> types = in.texts("layer_types");
  if (types.empty()) return in.missing("layer_types");
  if (!lists_each_layer(in, "layer_types", types.size(), a)) return;
  Attention sliding = a;
  sliding.window = in.count({"sliding_window"});
  Attention full = a;
  full.head_dim = in.count_or({"global_head_dim"}, a.head_dim);
  full.value_is_key = in.flag({"attention_k_eq_v"}, false);
  if (full.value_is_key) full.kv_heads = in.count_or({"num_global_key_value_heads"}, a.kv_heads);
  Mlp narrow;
  narrow.intermediate = in.count({"intermediate_size"});
  Mlp wide = narrow;
  if (in.flag({"use_double_wide_mlp"}, false)) wide.intermediate *= 2;
  const std::int64_t sharing = first_sharing_layer(in, a, 0);
  LayerList layers;
  for (std::int64_t i = 0; i < listed_layers(a); ++i) {
    Attention attention = slides(types, i) ? sliding : full;
    attention.shares_cache = i >= sharing;
    layers.mixer(attention);
    layers.mlp(i >= sharing ? wide : narrow);
  }
  add_vectors(a, "layers.*.scale", TensorRole::state, 1);
  if (in.flag({"enable_moe_block"}, false)) read_side_experts(in, a, layers);
  if (const std::int64_t width = in.amount_or({"hidden_size_per_layer_input"}, 0); width > 0)
    add_layer_inputs(in, a, width);
  layers.into(a);
}

/// Gemma 3n: inputs of each layer, AltUp, LAuReL; the layers that share keys and values store projections all the same.
void read_gemma3n(Fields& in, Architecture& a) {
  read_gemma_heads(in, a);
  const std::vector<std::string> types = in.texts("layer_types");
  if (types.empty()) return in.missing("layer_types");
  if (!lists_each_layer(in, "layer_types", types.size(), a)) return;
  Attention sliding = a;
  sliding.window = in.count({"sliding_window"});
  const Attention full = a;
  const Node* width = in.find({"intermediate_size"});
  const bool is_list = width && width->kind == Node::Kind::sequence;
  const std::vector<std::int64_t> widths = is_list ? in.amounts("intermediate_size") : std::vector<std::int64_t>{};
  Mlp mlp;
  if (!is_list) mlp.intermediate = in.count({"intermediate_size"});
  const std::int64_t sharing = first_sharing_layer(in, a, 15);
  LayerList layers;
  for (std::int64_t i = 0; i < listed_layers(a); ++i) {
    Attention attention = slides(types, i) ? sliding : full;
    attention.shares_cache = i >= sharing;
    layers.mixer(attention);
    const auto place = static_cast<std::size_t>(i);
    if (is_list) mlp.intermediate = place < widths.size() ? widths[place] : 0;
    layers.mlp(mlp);
  }
  if (const std::int64_t shared = listed_layers(a) - std::min(sharing, listed_layers(a)); shared > 0) {
    a.others.push_back({"layers.*.attention.unused_kv", TensorRole::attention, Sharding::kv_head, 2 * shared,
                        a.kv_heads * a.head_dim, a.hidden, shared, 0});
    a.others.push_back(
        {"layers.*.attention.unused_k_norm", TensorRole::norm, Sharding::replicated, shared, a.head_dim, 1, shared});
  }
  add_layer_inputs(in, a, in.count_or({"hidden_size_per_layer_input"}, 256));
  add_altup(in, a);
  layers.into(a);
}

}  // namespace gpuplan
