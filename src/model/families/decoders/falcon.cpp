#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// Falcon and RefinedWeb. The new decoder architecture has KV groups and two norms; the old one is multi-query or
/// multi-head, with one norm when attention and MLP run in parallel.
void read_falcon(Fields& in, Architecture& a) {
  read_shape(in, a);
  a.heads = in.count({"num_attention_heads", "n_head"});
  a.head_dim = divided_head_dim(in, a);
  a.intermediate = in.count_or({"ffn_hidden_size"}, 4 * a.hidden);
  const bool groups_said = in.has({"num_kv_heads", "n_head_kv"});
  // The 40B's own class, model_type RefinedWeb, is the new architecture before the flag existed.
  const bool modern = in.flag({"new_decoder_architecture"}, in.text({"model_type"}) == "RefinedWeb");
  if (!groups_said && !in.has({"multi_query", "new_decoder_architecture"})) {
    in.missing("multi_query or num_kv_heads");  // the formats always write one of them: what lacks both is cut down
  }
  const bool one_head = !modern && in.flag({"multi_query"}, !groups_said);
  a.kv_heads = 1;
  if (!one_head) a.kv_heads = in.count_or({"num_kv_heads", "n_head_kv"}, a.heads);
  set_gpt_style(a, in.flag({"bias"}, false));
  a.parallel_blocks = modern || in.flag({"parallel_attn"}, true);
  const std::int64_t norms = modern ? in.count_or({"num_ln_in_parallel_attn"}, 2) : 1;
  a.norms_per_layer = a.parallel_blocks ? norms : 2;
}

}  // namespace gpuplan
