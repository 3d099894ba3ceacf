#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// OLMo (1): norms without parameters.
void read_olmo(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
  a.norm_weights = false;
}

/// Norms after attention and MLP, and over all heads of queries and keys.
void read_olmo2(Fields& in, Architecture& a) {
  read_olmo(in, a);
  a.norm_weights = true;
  a.qk_norm = QkNorm::full;
}

/// Three sliding layers to a full one.
void read_olmo3(Fields& in, Architecture& a) {
  read_olmo2(in, a);
  read_windows(in, a, in.amount_or({"sliding_window"}, 4096), a.layers - a.layers / 4);
}

void read_olmoe(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a);
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
  a.qk_norm = QkNorm::full;
  read_experts(in, a, {"num_experts"}, {"num_experts_per_tok"}, {"intermediate_size"});
}

}  // namespace gpuplan
