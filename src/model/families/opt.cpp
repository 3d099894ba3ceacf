#include "common.hpp"
#include "family.hpp"

namespace gpuplan {

void read_opt(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_plain_heads(in, a);
  set_gpt_style(a, in.flag({"enable_bias"}, true));
  a.norm_weights = in.flag({"layer_norm_elementwise_affine"}, true);
  a.learned_positions = true;
  a.max_position = in.count({"max_position_embeddings"});
  a.position_offset = 2;  // OPTLearnedPositionalEmbedding
  a.intermediate = in.count({"ffn_dim"});
  if (in.count_or({"word_embed_proj_dim"}, a.hidden) != a.hidden) {
    in.unreadable("embeddings narrower than the layers (word_embed_proj_dim)");
  }
  if (!in.flag({"do_layer_norm_before"}, true) || in.flag({"_remove_final_layer_norm"}, false)) {
    in.unreadable("layers without a final norm (do_layer_norm_before)");
  }
}

}  // namespace gpuplan
