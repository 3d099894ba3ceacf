#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// Granite 3 with experts: no shared expert, `intermediate_size` is an expert's width.
void read_granite_moe(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a);
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
  read_experts(in, a, {"num_local_experts"}, {"num_experts_per_tok"}, {"intermediate_size"});
}

/// Grok-1: norms before and after attention and experts.
void read_grok(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a);
  a.norms_per_layer = 4;
  read_experts(in, a, {"num_experts"}, {"num_experts_per_tok"}, {"intermediate_size"});
}

/// MiniMax-M2: norms over all heads of queries and keys, a correction bias on the router.
void read_minimax_m2(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a, 8);
  if (in.flag({"use_qk_norm"}, true)) a.qk_norm = QkNorm::full;
  read_experts(in, a, {"num_local_experts"}, {"num_experts_per_tok"}, {"intermediate_size"});
  if (in.amount_or({"shared_intermediate_size"}, 0) > 0) in.unreadable("shared experts (shared_intermediate_size)");
  a.router_bias = in.flag({"use_routing_bias"}, true);
}

}  // namespace gpuplan
