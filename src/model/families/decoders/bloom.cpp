#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// BLOOM: a norm on the embeddings, ALiBi instead of positions, an MLP of four times the hidden size whatever `n_inner` says.
void read_bloom(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_plain_heads(in, a);
  set_gpt_style(a);
  a.embedding_norm = true;
  a.intermediate = 4 * a.hidden;
}

}  // namespace gpuplan
