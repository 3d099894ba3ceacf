#include "common.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {
namespace {

constexpr std::string_view kWindowedTypes[] = {"sliding_attention", "chunked_attention"};

bool is_windowed(std::string_view type) { return type == kWindowedTypes[0] || type == kWindowedTypes[1]; }

}  // namespace

void read_shape(Fields& in, Architecture& a) {
  a.layers = in.count({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  a.hidden = in.count({"hidden_size", "n_embd", "n_embed", "d_model"});
  a.vocab = in.count({"vocab_size"});
  a.max_position =
      in.amount_or({"max_position_embeddings", "n_positions", "max_sequence_length", "seq_length", "max_seq_len"}, 0);
}

std::int64_t divided_head_dim(Fields& in, const Architecture& a) {
  if (!in.sound()) return 1;  // one of the two is not known
  if (a.hidden % a.heads != 0) {
    in.wrong("num_attention_heads",
             "hidden size " + std::to_string(a.hidden) + " is no multiple of " + std::to_string(a.heads) + " heads",
             "a divisor of the hidden size, or head_dim");
  }
  return a.hidden / a.heads;
}

void read_heads(Fields& in, Architecture& a, std::int64_t kv_otherwise) {
  a.heads = in.count({"num_attention_heads", "n_head", "n_heads"});
  // A null means as many as heads in every format; only an absent key means the class's default.
  const bool is_null = in.states("num_key_value_heads");
  a.kv_heads = in.assumed({"num_key_value_heads"}, kv_otherwise == 0 || is_null ? a.heads : kv_otherwise);
  const std::int64_t head_dim = in.count_or({"head_dim"}, 0);
  a.head_dim = head_dim > 0 ? head_dim : divided_head_dim(in, a);
  const std::int64_t value = in.count_or({"v_head_dim"}, 0);
  a.v_head_dim = value == a.head_dim ? 0 : value;
}

void read_plain_heads(Fields& in, Architecture& a) {
  a.heads = in.count({"num_attention_heads", "n_head", "n_heads"});
  a.kv_heads = a.heads;
  a.head_dim = divided_head_dim(in, a);
}

void read_gated_decoder(Fields& in, Architecture& a, std::int64_t kv_otherwise) {
  read_shape(in, a);
  read_heads(in, a, kv_otherwise);
  a.intermediate = in.count({"intermediate_size"});
}

void set_gpt_style(Architecture& a, bool biases) {
  a.norm = NormKind::layer;
  a.gated_mlp = false;
  a.qkv_bias = biases;
  a.output_bias = biases;
  a.mlp_bias = biases;
}

void read_windows(Fields& in, Architecture& a, std::optional<std::int64_t> window, std::int64_t layers) {
  const std::vector<std::string> types = in.texts("layer_types");
  if (!types.empty()) {
    layers = 0;
    for (const std::string& type : types) layers += is_windowed(type) ? 1 : 0;
    if (in.sound() && static_cast<std::int64_t>(types.size()) != a.layers) {
      in.wrong(
          "layer_types",
          "'layer_types' has " + std::to_string(types.size()) + " entries for " + std::to_string(a.layers) + " layers",
          "one entry a layer");
    }
  }
  if (window.value_or(0) == 0 || layers <= 0) return;
  a.window = *window;
  a.windowed_layers = layers;
}

void read_experts(Fields& in, Architecture& a, Keys experts, Keys per_token, Keys width) {
  a.experts = in.count(experts);
  a.experts_per_token = in.count(per_token);
  a.expert_intermediate = in.count(width);
}

}  // namespace gpuplan
