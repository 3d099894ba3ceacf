#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// Nemotron-4 and Minitron: layer norms with biases, a plain MLP with squared ReLU.
void read_nemotron(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  set_gpt_style(a, false);
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
  a.mlp_bias = in.flag({"mlp_bias"}, false);
}

}  // namespace gpuplan
