#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// InternLM (1): multi-head; the biases of attention are on unless said.
void read_internlm(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_plain_heads(in, a);
  a.intermediate = in.count({"intermediate_size"});
  a.qkv_bias = in.flag({"bias"}, true);
  a.output_bias = a.qkv_bias;
}

void read_internlm2(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  a.qkv_bias = in.flag({"bias"}, true);
  a.output_bias = a.qkv_bias;
}

}  // namespace gpuplan
