#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

void read_gpt_neox(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_plain_heads(in, a);
  set_gpt_style(a);
  const bool attention_bias = in.flag({"attention_bias"}, true);
  a.qkv_bias = attention_bias;
  a.output_bias = attention_bias;
  a.parallel_blocks = in.flag({"use_parallel_residual"}, true);
  a.intermediate = in.count({"intermediate_size"});
}

}  // namespace gpuplan
