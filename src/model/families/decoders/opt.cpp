#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// OPT: the 350M model alone norms after its blocks, so it ends without a norm, and has narrower embeddings.
void read_opt(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_plain_heads(in, a);
  set_gpt_style(a, in.flag({"enable_bias"}, true));
  a.norm_weights = in.flag({"layer_norm_elementwise_affine"}, true);
  a.learned_positions = true;
  a.max_position = in.count({"max_position_embeddings"});
  a.position_offset = 2;  // OPTLearnedPositionalEmbedding
  a.intermediate = in.count({"ffn_dim"});
  const std::int64_t embedding = in.count_or({"word_embed_proj_dim"}, a.hidden);
  if (embedding != a.hidden) a.embedding_width = embedding;
  a.final_norm = in.flag({"do_layer_norm_before"}, true) && !in.flag({"_remove_final_layer_norm"}, false);
}

}  // namespace gpuplan
