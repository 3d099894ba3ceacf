#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {

void read_starcoder2(Fields& in, Architecture& a) {
  read_gated_decoder(in, a, 2);  // Starcoder2Config
  set_gpt_style(a, in.flag({"use_bias"}, true));
  read_windows(in, a, in.amount({"sliding_window"}), a.layers);
}

}  // namespace gpuplan
