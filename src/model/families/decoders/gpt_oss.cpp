#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// GPT-OSS: a learned sink a head, biases on attention, experts and router; every second layer slides, the first does.
void read_gpt_oss(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a, 8);
  if (!in.states("head_dim")) a.head_dim = 64;  // GptOssConfig
  const bool bias = in.flag({"attention_bias"}, true);
  a.qkv_bias = bias;
  a.output_bias = bias;
  a.attention_sinks = true;
  read_experts(in, a, {"num_local_experts", "num_experts"}, {"num_experts_per_tok", "experts_per_token"},
               {"intermediate_size"});
  a.router_bias = true;
  a.expert_bias = true;
  read_windows(in, a, in.amount_or({"sliding_window"}, 128), (a.layers + 1) / 2);
}

}  // namespace gpuplan
