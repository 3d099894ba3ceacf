#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {
namespace {

void read_mpt_attention(Fields in, Architecture& a) {
  a.kv_heads = in.text({"attn_type"}) == "multiquery_attention" ? 1 : in.count_or({"kv_n_heads"}, a.heads);
  if (in.flag({"qk_ln"}, false)) in.unreadable("query and key norms (attn_config.qk_ln)");
  if (in.flag({"alibi"}, false) || in.flag({"rope"}, false)) a.learned_positions = false;
}

}  // namespace

/// MPT: with `no_bias` its layer norms have weights only, as an RMS norm has.
void read_mpt(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_plain_heads(in, a);
  const bool biases = !in.flag({"no_bias"}, true);
  set_gpt_style(a, biases);
  if (!biases) a.norm = NormKind::rms;
  a.intermediate = in.count_or({"expansion_ratio"}, 4) * a.hidden;
  a.learned_positions = in.flag({"learned_pos_emb"}, true);
  if (const Node* attention = in.find({"attn_config"})) read_mpt_attention(in.inside(*attention), a);
  if (in.has({"ffn_config"}) && in.find({"ffn_config"})->find("moe_num_experts")) in.unreadable("experts (ffn_config)");
}

}  // namespace gpuplan
