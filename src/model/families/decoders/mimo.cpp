#include "../family.hpp"
#include "common.hpp"
#include "layer_list.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {
namespace {

bool is_set(const std::vector<std::int64_t>& list, std::int64_t i) {
  const auto place = static_cast<std::size_t>(i);
  return place < list.size() && list[place] != 0;
}

/// The numbers of a text such as `3,4,5`.
std::set<std::int64_t> listed(std::string_view text) {
  std::set<std::int64_t> out;
  std::int64_t number = -1;
  for (const char c : std::string(text) + ",") {
    const bool digit = c >= '0' && c <= '9';
    if (digit && number < 100000) number = std::max<std::int64_t>(number, 0) * 10 + (c - '0');
    if (digit || number < 0) continue;
    out.insert(number);
    number = -1;
  }
  return out;
}

}  // namespace

/// MiMo-7B: Qwen2's attention with the bias on request.
void read_mimo(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  a.qkv_bias = in.flag({"attention_bias"}, false);
}

/// MiMo-V2: sliding layers have their own heads and sinks; the first MLP is dense.
void read_mimo_v2(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a);
  a.qkv_bias = in.flag({"attention_bias"}, false);
  Attention sliding = a;
  sliding.heads = in.count_or({"swa_num_attention_heads"}, a.heads);
  sliding.kv_heads = in.count_or({"swa_num_key_value_heads"}, a.kv_heads);
  sliding.head_dim = in.count_or({"swa_head_dim"}, a.head_dim);
  const std::int64_t value = in.count_or({"swa_v_head_dim"}, 0);
  sliding.v_head_dim = value == sliding.head_dim ? 0 : value;
  sliding.window = in.count({"sliding_window", "sliding_window_size"});
  sliding.attention_sinks = in.flag({"add_swa_attention_sink_bias"}, false);
  Attention full = a;
  full.attention_sinks = in.flag({"add_full_attention_sink_bias"}, false);
  Mlp plain;
  plain.intermediate = in.count({"intermediate_size"});
  Architecture routed;
  read_experts(in, routed, {"n_routed_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"});
  if (in.amount_or({"n_shared_experts"}, 0) > 0) in.unreadable("shared experts (n_shared_experts)");
  routed.router_bias = in.text({"topk_method"}) == "noaux_tc";
  const std::vector<std::int64_t> slides = in.amounts("hybrid_layer_pattern");
  const std::vector<std::int64_t> experts = in.amounts("moe_layer_freq");
  if (slides.empty()) in.missing("hybrid_layer_pattern");
  LayerList layers;
  for (std::int64_t i = 0; i < listed_layers(a); ++i) {
    layers.mixer(is_set(slides, i) ? sliding : full);
    layers.mlp(is_set(experts, i) ? static_cast<const Mlp&>(routed) : plain);
  }
  layers.into(a);
}

/// Step 3.5 and 3.7: sliding layers have more heads, every head has a gate; experts in the listed layers.
void read_step3p5(Fields& in, Architecture& a) {
  read_shape(in, a);
  a.heads = in.count({"num_attention_heads"});
  a.kv_heads = in.count({"num_attention_groups"});
  a.head_dim = in.count({"head_dim"});
  if (in.flag({"use_qk_norm"}, true)) a.qk_norm = QkNorm::per_head;
  a.head_gate = in.flag({"use_head_wise_attn_gate"}, false);
  const Attention full = a;
  Attention sliding = a;
  sliding.window = in.count({"sliding_window"});
  if (const Node* other = in.find({"attention_other_setting"})) {
    Fields inside = in.inside(*other);
    sliding.heads = inside.count_or({"num_attention_heads"}, full.heads);
    sliding.kv_heads = inside.count_or({"num_attention_groups"}, full.kv_heads);
    sliding.head_dim = inside.count_or({"head_dim"}, full.head_dim);
  }
  Mlp plain;
  plain.intermediate = in.count({"intermediate_size"});
  Architecture routed;
  read_experts(in, routed, {"moe_num_experts"}, {"moe_top_k"}, {"moe_intermediate_size"});
  routed.shared_expert_intermediate = in.amount_or({"share_expert_dim"}, 0);
  routed.shared_experts = routed.shared_expert_intermediate > 0 ? 1 : 0;
  routed.router_bias = in.flag({"use_moe_router_bias"}, false);
  const std::set<std::int64_t> experts = listed(in.text({"moe_layers_enum"}));
  const std::vector<std::string> types = in.texts("layer_types");
  if (types.empty()) in.missing("layer_types");
  LayerList layers;
  for (std::int64_t i = 0; i < listed_layers(a); ++i) {
    const auto place = static_cast<std::size_t>(i);
    layers.mixer(place < types.size() && types[place] == "sliding_attention" ? sliding : full);
    layers.mlp(experts.contains(i) ? static_cast<const Mlp&>(routed) : plain);
  }
  layers.into(a);
}

}  // namespace gpuplan
