#include "../family.hpp"
#include "common.hpp"
#include "layer_list.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace gpuplan {
namespace {

void read_latent_attention(Fields& in, Architecture& a) {
  a.heads = in.count({"num_attention_heads"});
  a.kv_heads = a.heads;
  a.kv_lora_rank = in.count({"kv_lora_rank"});
  a.q_lora_rank = in.amount_or({"q_lora_rank"}, 0);
  a.qk_nope_head_dim = in.count({"qk_nope_head_dim"});
  a.qk_rope_head_dim = in.count({"qk_rope_head_dim"});
  a.v_head_dim = in.count({"v_head_dim"});
  a.head_dim = a.qk_nope_head_dim;
  if (in.flag({"attention_bias"}, false)) in.unreadable("biases of latent attention (attention_bias)");
}

/// Experts from layer `first_k_dense_replace` on, in every `moe_layer_freq`-th layer; plain MLPs elsewhere.
void read_deepseek_experts(Fields& in, Architecture& a) {
  constexpr std::int64_t most_layers = 10000;  // check_architecture refuses more
  a.intermediate = in.count({"intermediate_size"});
  if (in.amount_or({"n_routed_experts"}, 0) == 0) return;
  read_experts(in, a, {"n_routed_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"});
  a.shared_experts = in.amount_or({"n_shared_experts"}, 0);
  a.shared_expert_intermediate = std::min<std::int64_t>(a.shared_experts, 100000) * a.expert_intermediate;
  const std::int64_t first = in.amount_or({"first_k_dense_replace"}, 0);
  const std::int64_t step = in.count_or({"moe_layer_freq"}, 1);
  for (std::int64_t i = 0; i < std::min(a.layers, most_layers); ++i)
    a.dense_layers += i < first || i % step != 0 ? 1 : 0;
  a.router_bias = in.text({"topk_method"}) == "noaux_tc";
}

}  // namespace

/// DeepSeek (1): grouped-query attention.
void read_deepseek(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a);
  const bool bias = in.flag({"attention_bias"}, false);
  a.qkv_bias = bias;
  a.output_bias = bias;
  read_deepseek_experts(in, a);
}

void read_deepseek_v2(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_latent_attention(in, a);
  read_deepseek_experts(in, a);
}

/// DeepSeek-V3 and its heirs: a correction bias on the router, and in V3.2 sparse attention over what an indexer picks.
void read_deepseek_v3(Fields& in, Architecture& a) {
  read_deepseek_v2(in, a);
  a.router_bias = a.has_experts();
  a.selected_tokens = in.amount_or({"index_topk"}, 0);
  if (a.selected_tokens == 0) return;
  a.index_heads = in.count({"index_n_heads"});
  a.index_dim = in.count({"index_head_dim"});
}

/// GLM-5: as DeepSeek-V3.2; where `indexer_types` says `shared`, a layer takes the choice of an earlier one.
void read_glm_moe_dsa(Fields& in, Architecture& a) {
  read_deepseek_v3(in, a);
  const std::vector<std::string> types = in.texts("indexer_types");
  if (types.empty()) return;
  if (!lists_each_layer(in, "indexer_types", types.size(), a)) return;
  const Attention choosing = a;
  Attention told = a;
  told.index_heads = 0;
  LayerList layers;
  for (const std::string& type : types) layers.mixer(type == "shared" ? told : choosing);
  for (const MlpGroup& group : mlps_of(a)) layers.mlp(group.mlp, group.layers);
  layers.into(a);
}

}  // namespace gpuplan
