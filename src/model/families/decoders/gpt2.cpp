#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

void read_gpt2(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_plain_heads(in, a);
  set_gpt_style(a);
  a.learned_positions = true;
  a.max_position = in.assumed({"n_positions", "n_ctx", "max_position_embeddings"}, 1024);  // GPT2Config
  a.intermediate = in.count_or({"n_inner"}, 4 * a.hidden);
}

void read_gpt_bigcode(Fields& in, Architecture& a) {
  read_gpt2(in, a);
  if (in.flag({"multi_query"}, true)) a.kv_heads = 1;
}

/// GPT-J: one norm a layer, biases in the MLP and on the head only.
void read_gptj(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_plain_heads(in, a);
  a.norm = NormKind::layer;
  a.norms_per_layer = 1;
  a.gated_mlp = false;
  a.mlp_bias = true;
  a.head_bias = true;
  a.parallel_blocks = true;
  a.intermediate = in.count_or({"n_inner"}, 4 * a.hidden);
}

}  // namespace gpuplan
