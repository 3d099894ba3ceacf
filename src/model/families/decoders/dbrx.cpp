#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// DBRX: attention and experts described in mappings of their own; norms have weights only.
void read_dbrx(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_plain_heads(in, a);
  const Node* attention = in.find({"attn_config"});
  const Node* mlp = in.find({"ffn_config"});
  if (!attention || !mlp || !attention->find("kv_n_heads")) {
    in.missing(attention && attention->find("kv_n_heads") ? "ffn_config" : "attn_config.kv_n_heads");
    return;
  }
  a.kv_heads = in.inside(*attention).count({"kv_n_heads"});
  Fields experts = in.inside(*mlp);
  read_experts(experts, a, {"moe_num_experts"}, {"moe_top_k"}, {"ffn_hidden_size"});
}

}  // namespace gpuplan
