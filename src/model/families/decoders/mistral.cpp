#include "../family.hpp"
#include "common.hpp"

namespace gpuplan {
namespace {

constexpr std::int64_t kKvHeads = 8;    // MistralConfig and MixtralConfig
constexpr std::int64_t kWindow = 4096;  // MistralConfig, when the key is absent; null is no window

}  // namespace

void read_mistral(Fields& in, Architecture& a) {
  read_gated_decoder(in, a, kKvHeads);
  const std::int64_t window =
      in.states("sliding_window") ? in.amount_or({"sliding_window"}, 0) : in.assumed({"sliding_window"}, kWindow);
  read_windows(in, a, window, a.layers);
}

void read_mixtral(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a, kKvHeads);
  read_experts(in, a, {"num_local_experts"}, {"num_experts_per_tok"}, {"intermediate_size"});
  read_windows(in, a, in.amount({"sliding_window"}), a.layers);
}

}  // namespace gpuplan
