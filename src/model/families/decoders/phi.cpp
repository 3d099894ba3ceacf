#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// Phi-1 to 2: attention and MLP read one norm; biases everywhere, on the head too.
void read_phi(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  set_gpt_style(a);
  a.head_bias = true;
  a.parallel_blocks = true;
  a.norms_per_layer = 1;
  if (in.flag({"qk_layernorm"}, false)) in.unreadable("query and key norms with biases (qk_layernorm)");
}

void read_phi3(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  read_windows(in, a, in.amount({"sliding_window"}), a.layers);
}

void read_phimoe(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a, 8);
  a.norm = NormKind::layer;
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
  a.head_bias = in.flag({"lm_head_bias"}, false);
  read_experts(in, a, {"num_local_experts"}, {"num_experts_per_tok"}, {"intermediate_size"});
  read_windows(in, a, in.amount({"sliding_window"}), a.layers);
}

}  // namespace gpuplan
