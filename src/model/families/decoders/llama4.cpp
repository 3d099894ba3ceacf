#include "../family.hpp"
#include "common.hpp"

#include <algorithm>
#include <vector>

namespace gpuplan {
namespace {

constexpr std::int64_t kFullEvery = 4;  // Llama4TextConfig: every fourth layer has no rotary embedding and no chunks

std::int64_t chunked_layers(Fields& in, const Architecture& a) {
  const std::vector<std::int64_t> rotary = in.amounts("no_rope_layers");  // 1: with rotary embedding
  if (!rotary.empty()) return std::count(rotary.begin(), rotary.end(), 1);
  return a.layers - a.layers / in.count_or({"no_rope_layer_interval"}, kFullEvery);
}

}  // namespace

/// Experts in every `interleave_moe_layer_step`-th layer, one shared expert as wide as the others, dense layers of their own
/// width between. Query and key norms have no weights.
void read_llama4(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a, 8);
  const bool bias = in.flag({"attention_bias"}, false);
  a.qkv_bias = bias;
  a.output_bias = bias;
  read_experts(in, a, {"num_local_experts"}, {"num_experts_per_tok"}, {"intermediate_size"});
  a.shared_experts = 1;
  a.shared_expert_intermediate = a.expert_intermediate;
  const auto listed = static_cast<std::int64_t>(in.amounts("moe_layers").size());
  a.dense_layers = a.layers - (listed > 0 ? listed : a.layers / in.count_or({"interleave_moe_layer_step"}, 1));
  if (a.dense_layers > 0) a.intermediate = in.count({"intermediate_size_mlp"});
  read_windows(in, a, in.amount({"attention_chunk_size"}), chunked_layers(in, a));
}

}  // namespace gpuplan
