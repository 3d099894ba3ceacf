#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

void read_stablelm(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  a.norm = NormKind::layer;
  a.qkv_bias = in.flag({"use_qkv_bias"}, false);
  a.parallel_blocks = in.flag({"use_parallel_residual"}, false);
  if (a.parallel_blocks) a.norms_per_layer = 1;
  if (in.flag({"qk_layernorm"}, false)) in.unreadable("a query and key norm of its own for each head (qk_layernorm)");
}

}  // namespace gpuplan
