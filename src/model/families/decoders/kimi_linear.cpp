#include "../family.hpp"
#include "common.hpp"
#include "layer_list.hpp"
#include "recurrence.hpp"

#include <algorithm>
#include <vector>

namespace gpuplan {
namespace {

Recurrence read_delta(Fields in, const Architecture& a, std::vector<std::int64_t>& delta_layers) {
  const auto size = [](std::int64_t n) { return static_cast<double>(n); };
  KimiDeltaShape s{.hidden = size(a.hidden)};
  s.heads = size(in.count({"num_heads"}));
  s.head_dim = size(in.count({"head_dim"}));
  s.kernel = size(in.count_or({"short_conv_kernel_size"}, 4));
  s.full_rank_gate = in.flag({"use_full_rank_gate"}, false);
  delta_layers = in.amounts("kda_layers");
  return kimi_delta_attention(s);
}

/// Experts from `first_k_dense_replace` on, where they may work on fewer dimensions.
void read_kimi_experts(Fields& in, Architecture& a) {
  a.intermediate = in.count({"intermediate_size"});
  read_experts(in, a, {"num_experts"}, {"num_experts_per_token", "num_experts_per_tok"}, {"moe_intermediate_size"});
  a.shared_experts = in.amount_or({"num_shared_experts"}, 0);
  a.shared_expert_intermediate = std::min<std::int64_t>(a.shared_experts, 100000) * a.expert_intermediate;
  a.router_bias = true;
  a.latent_width = in.amount_or({"routed_expert_hidden_size"}, 0);
  a.dense_layers = std::min(in.amount_or({"first_k_dense_replace"}, 0), a.layers);
  if (in.count_or({"moe_layer_freq"}, 1) != 1) in.unreadable("experts in some of the later layers (moe_layer_freq)");
}

/// Residuals that attend to earlier layers: a norm and a query before attention, MLP and output.
void add_residual_attention(Architecture& a) {
  const std::int64_t layers = std::min<std::int64_t>(a.layers, 10001);
  a.others.push_back(
      {"layers.*.residual_norm", TensorRole::norm, Sharding::replicated, 2 * layers, a.hidden, 1, layers});
  a.others.push_back(
      {"layers.*.residual_query", TensorRole::router, Sharding::replicated, 2 * layers, 1, a.hidden, layers});
  a.others.push_back({"residual_norm", TensorRole::norm, Sharding::replicated, 1, a.hidden, 1, 0});
  a.others.push_back({"residual_query", TensorRole::router, Sharding::replicated, 1, 1, a.hidden, 0});
}

}  // namespace

/// Kimi Linear and K3: delta attention, with latent attention in every fourth layer.
void read_kimi_linear(Fields& in, Architecture& a) {
  read_shape(in, a);
  a.heads = in.count({"num_attention_heads"});
  a.kv_heads = a.heads;
  a.kv_lora_rank = in.count({"kv_lora_rank"});
  a.q_lora_rank = in.amount_or({"q_lora_rank"}, 0);
  a.qk_nope_head_dim = in.count({"qk_nope_head_dim"});
  a.qk_rope_head_dim = in.amount_or({"qk_rope_head_dim"}, 0);
  a.v_head_dim = in.count({"v_head_dim"});
  a.head_dim = a.qk_nope_head_dim;
  a.output_gate = in.flag({"mla_use_output_gate"}, false);
  read_kimi_experts(in, a);
  const Node* linear = in.find({"linear_attn_config"});
  if (!linear) in.missing("linear_attn_config");
  std::vector<std::int64_t> delta_layers;
  const Recurrence recurrent = linear ? read_delta(in.inside(*linear), a, delta_layers) : Recurrence{};
  const Attention attention = a;
  LayerList layers;
  for (std::int64_t i = 1; i <= listed_layers(a); ++i) {  // the config counts layers from one
    const bool recurs = std::find(delta_layers.begin(), delta_layers.end(), i) != delta_layers.end();
    recurs ? layers.mixer(recurrent) : layers.mixer(attention);
  }
  for (const MlpGroup& group : mlps_of(a)) layers.mlp(group.mlp, group.layers);
  if (in.has({"attn_res_block_size"})) add_residual_attention(a);
  if (a.latent_width > 0 && in.flag({"latent_moe_use_norm"}, false)) {
    a.others.push_back({"layers.*.experts.latent_norm", TensorRole::norm, Sharding::replicated,
                        a.layers - a.dense_layers, a.latent_width, 1, a.layers - a.dense_layers});
  }
  layers.into(a);
}

}  // namespace gpuplan
