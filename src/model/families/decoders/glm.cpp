#include "../family.hpp"
#include "common.hpp"

#include <algorithm>

namespace gpuplan {

/// ChatGLM 2, 3 and GLM-4 by their own class. The first ChatGLM shares the name and nothing else.
void read_chatglm(Fields& in, Architecture& a) {
  if (!in.states("multi_query_attention")) {
    in.unreadable("the first ChatGLM, with two-dimensional positions");
    return;
  }
  a.layers = in.count({"num_layers", "num_hidden_layers"});
  a.hidden = in.count({"hidden_size"});
  a.vocab = in.count({"padded_vocab_size", "vocab_size"});
  a.max_position = in.amount_or({"seq_length"}, 0);
  a.heads = in.count({"num_attention_heads"});
  a.kv_heads = in.flag({"multi_query_attention"}, false) ? in.count({"multi_query_group_num"}) : a.heads;
  const std::int64_t width = in.count_or({"kv_channels"}, 0);
  a.head_dim = width > 0 ? width : divided_head_dim(in, a);
  a.intermediate = in.count({"ffn_hidden_size"});
  const bool all_biases = in.flag({"add_bias_linear"}, false);
  a.qkv_bias = all_biases || in.flag({"add_qkv_bias"}, false);
  a.output_bias = all_biases;
  a.mlp_bias = all_biases;
  a.norm = in.flag({"rmsnorm"}, true) ? NormKind::rms : NormKind::layer;
  if (!in.flag({"post_layer_norm"}, true)) in.unreadable("layers without a final norm (post_layer_norm)");
}

void read_glm(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  a.qkv_bias = in.flag({"attention_bias"}, false);
}

/// GLM-4 of 2025: norms before and after attention and MLP.
void read_glm4(Fields& in, Architecture& a) {
  read_glm(in, a);
  a.norms_per_layer = 4;
}

void read_glm4_moe(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a, 8);
  a.qkv_bias = in.flag({"attention_bias"}, false);
  if (in.flag({"use_qk_norm"}, false)) a.qk_norm = QkNorm::per_head;
  read_experts(in, a, {"n_routed_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"});
  a.shared_experts = in.amount_or({"n_shared_experts"}, 1);
  a.shared_expert_intermediate = std::min<std::int64_t>(a.shared_experts, 100000) * a.expert_intermediate;
  a.dense_layers = in.amount_or({"first_k_dense_replace"}, 1);
  if (a.dense_layers > 0) a.intermediate = in.count({"intermediate_size"});
  a.router_bias = true;
}

}  // namespace gpuplan
