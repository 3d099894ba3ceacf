#include "../family.hpp"
#include "common.hpp"
#include "layer_list.hpp"
#include "recurrence.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace gpuplan {
namespace {

/// Widths of searched MLPs: two thirds of a multiple of the hidden size, rounded up to 256 (DeciLM, `_ffn_mult_to_intermediate_size`).
std::int64_t searched_width(double multiplier, const Architecture& a) {
  const double wide = std::clamp(std::trunc(2 * multiplier * static_cast<double>(a.hidden) / 3), 0.0, 1e9);
  return (static_cast<std::int64_t>(wide) + 255) / 256 * 256;
}

struct Searched {
  LayerList layers;
  std::int64_t norms = 0;  // one before each block that is there
};

void add_attention_block(Fields in, const Architecture& a, Searched& out) {
  if (in.flag({"no_op"}, false)) return;
  ++out.norms;
  if (in.flag({"replace_with_linear"}, false)) {
    out.layers.mixer(linear_replacement("attention_linear", static_cast<double>(a.hidden)));
    return;
  }
  Attention attention = a;
  const std::int64_t group = in.count_or({"n_heads_in_group"}, 1);
  attention.kv_heads = std::max<std::int64_t>(a.heads / group, 1);
  attention.window = in.amount_or({"window_length"}, 0);
  out.layers.mixer(attention);
}

void add_mlp_block(Fields in, const Architecture& a, Searched& out) {
  if (in.flag({"no_op"}, false)) return;
  ++out.norms;
  if (in.flag({"replace_with_linear"}, false)) {
    out.layers.mixer(linear_replacement("mlp_linear", static_cast<double>(a.hidden)));
    return;
  }
  Mlp mlp;
  mlp.mlp_bias = a.mlp_bias;
  const std::optional<double> multiplier = number_of(in.find({"ffn_mult"}));
  mlp.intermediate = multiplier ? searched_width(*multiplier, a) : in.count({"intermediate_size"});
  out.layers.mlp(mlp);
}

void read_blocks(Fields& in, const Node& blocks, Architecture& a) {
  Searched out;
  for (const Node& block : blocks.items) {
    const Node* attention = block.find("attention");
    const Node* mlp = block.find("ffn");
    if (!attention || !mlp) return in.missing("attention or ffn of a block in block_configs");
    add_attention_block(in.inside(*attention), a, out);
    add_mlp_block(in.inside(*mlp), a, out);
  }
  out.layers.into(a);
  a.norms_per_layer = 0;
  a.others.push_back({"layers.*.norm", TensorRole::norm, Sharding::replicated, out.norms, a.hidden, 1, a.layers});
}

}  // namespace

/// Decoders of an architecture search (DeciLM, Nemotron from Llama): every layer has its own KV heads and MLP, or lacks one.
void read_nemotron_nas(Fields& in, Architecture& a) {
  read_shape(in, a);
  a.heads = in.count({"num_attention_heads"});
  a.kv_heads = a.heads;
  const std::int64_t head_dim = in.count_or({"head_dim"}, 0);
  a.head_dim = head_dim > 0 ? head_dim : divided_head_dim(in, a);
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
  a.mlp_bias = in.flag({"mlp_bias"}, false);
  if (const Node* blocks = in.find({"block_configs"}); blocks && blocks->kind == Node::Kind::sequence) {
    if (!lists_each_layer(in, "block_configs", blocks->items.size(), a)) return;
    return read_blocks(in, *blocks, a);
  }
  a.intermediate = in.count({"intermediate_size"});
  const std::vector<std::int64_t> kv_heads = in.amounts("num_key_value_heads_per_layer");
  if (kv_heads.empty()) return in.missing("block_configs");
  if (!lists_each_layer(in, "num_key_value_heads_per_layer", kv_heads.size(), a)) return;
  const Architecture base = a;
  LayerList layers;
  for (const std::int64_t heads : kv_heads) {
    Attention attention = base;
    attention.kv_heads = heads;
    layers.mixer(attention);
  }
  layers.mlp(base, a.layers);
  layers.into(a);
}

/// OpenELM: query heads, KV heads and MLP width of each layer.
void read_openelm(Fields& in, Architecture& a) {
  a.layers = in.count({"num_transformer_layers"});
  a.hidden = in.count({"model_dim"});
  a.vocab = in.count({"vocab_size"});
  a.max_position = in.amount_or({"max_context_length"}, 0);
  a.head_dim = in.count({"head_dim"});
  if (in.flag({"normalize_qk_projections"}, false)) a.qk_norm = QkNorm::per_head;
  const std::vector<std::int64_t> heads = in.amounts("num_query_heads");
  const std::vector<std::int64_t> kv_heads = in.amounts("num_kv_heads");
  const Node* multipliers = in.find({"ffn_multipliers"});
  const std::int64_t divisor = in.count_or({"ffn_dim_divisor"}, 256);
  const auto n = static_cast<std::size_t>(listed_layers(a));
  if (heads.size() != n || kv_heads.size() != n || !multipliers || multipliers->items.size() != n)
    return in.missing("num_query_heads, num_kv_heads and ffn_multipliers of each layer");
  LayerList layers;
  for (std::size_t i = 0; i < n; ++i) {
    Attention attention = a;
    attention.heads = heads[i];
    attention.kv_heads = kv_heads[i];
    layers.mixer(attention);
    Mlp mlp;
    mlp.gated_mlp = in.flag({"ffn_with_glu"}, true);
    const double wide =
        std::clamp(number_of(&multipliers->items[i]).value_or(0) * static_cast<double>(a.hidden), 0.0, 1e9);
    const double step = static_cast<double>(divisor);  // make_divisible: to the nearest, but at most a tenth down
    double rounded = std::max(step, std::floor((wide + step / 2) / step) * step);
    if (rounded < 0.9 * wide) rounded += step;
    mlp.intermediate = static_cast<std::int64_t>(rounded);
    layers.mlp(mlp);
  }
  layers.into(a);
  if (in.has({"share_input_output_layers"})) {
    const bool shared = in.flag({"share_input_output_layers"}, true);
    if (!shared) in.unreadable("an output head of its own (share_input_output_layers)");
  }
}

}  // namespace gpuplan
