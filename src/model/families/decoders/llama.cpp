#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// LLaMA and what shares its layout: `attention_bias` stands for the projections of queries, keys, values and output.
void read_llama(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
  a.mlp_bias = in.flag({"mlp_bias"}, false);
  if (in.flag({"use_sliding_window"}, false)) read_windows(in, a, in.amount({"sliding_window"}), a.layers);
}

/// Ernie 4.5: one flag for all biases.
void read_ernie(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  a.qkv_bias = in.flag({"use_bias"}, false);
  a.output_bias = a.qkv_bias;
  a.mlp_bias = a.qkv_bias;
}

void read_seed_oss(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  a.qkv_bias = in.flag({"attention_bias"}, true);
  a.output_bias = in.flag({"attention_out_bias"}, false);
  a.mlp_bias = in.flag({"mlp_bias"}, false);
}

}  // namespace gpuplan
