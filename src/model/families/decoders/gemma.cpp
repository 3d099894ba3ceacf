#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {
namespace {

// The text part of a Gemma 3 wrapper leaves out what is at its class's default (Gemma3TextConfig).
struct Gemma3Defaults {
  std::int64_t vocab = 262208;
  std::int64_t heads = 8;
  std::int64_t kv_heads = 4;
  std::int64_t head_dim = 256;
  std::int64_t window = 4096;
  std::int64_t pattern = 6;
};

}  // namespace

void read_gemma(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
}

/// Norms before and after attention and MLP; every second layer slides, the first does.
void read_gemma2(Fields& in, Architecture& a) {
  read_gemma(in, a);
  a.norms_per_layer = 4;
  read_windows(in, a, in.assumed({"sliding_window"}, Gemma3Defaults{}.window), (a.layers + 1) / 2);
}

/// Five sliding layers to a full one.
void read_gemma3(Fields& in, Architecture& a) {
  const Gemma3Defaults otherwise;
  a.layers = in.count({"num_hidden_layers"});
  a.hidden = in.count({"hidden_size"});
  a.intermediate = in.count({"intermediate_size"});
  a.vocab = in.assumed({"vocab_size"}, otherwise.vocab);
  a.max_position = in.amount_or({"max_position_embeddings"}, 131072);
  a.heads = in.assumed({"num_attention_heads"}, otherwise.heads);
  a.kv_heads = in.assumed({"num_key_value_heads"}, otherwise.kv_heads);
  a.head_dim = in.assumed({"head_dim"}, otherwise.head_dim);
  a.norms_per_layer = 4;
  a.qk_norm = QkNorm::per_head;
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
  const std::int64_t pattern = in.count_or({"sliding_window_pattern", "_sliding_window_pattern"}, otherwise.pattern);
  read_windows(in, a, in.assumed({"sliding_window"}, otherwise.window), a.layers - a.layers / pattern);
}

}  // namespace gpuplan
