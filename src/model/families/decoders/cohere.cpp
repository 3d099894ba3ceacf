#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

/// Command R: attention and MLP read one norm, which has a weight and no bias; query and key norms have a weight a head.
void read_cohere(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
  if (in.flag({"use_qk_norm"}, false)) a.qk_norm = QkNorm::full;
  a.parallel_blocks = true;
  a.norms_per_layer = 1;
}

/// Command R7B and A: three sliding layers to a full one.
void read_cohere2(Fields& in, Architecture& a) {
  read_cohere(in, a);
  a.qk_norm = QkNorm::none;
  const std::int64_t pattern = in.count_or({"sliding_window_pattern", "_sliding_window_pattern"}, 4);
  read_windows(in, a, in.amount_or({"sliding_window"}, 4096), a.layers - a.layers / pattern);
}

}  // namespace gpuplan
