#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// Baichuan 1 and 2: multi-head, no biases.
void read_baichuan(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_plain_heads(in, a);
  a.max_position = in.amount_or({"max_position_embeddings", "model_max_length"}, 0);
  a.intermediate = in.count({"intermediate_size"});
}

}  // namespace gpuplan
