#pragma once
/// What networks that speak share: convolutions along time, most of them with a norm on their weights, and the
/// generators that turn frames into samples.
///
/// A kernel is used once per position of a second of audio; text goes through token by token. Of a weight norm's two
/// tensors both count, the direction and the length of each kernel, as checkpoints store them.

#include "../family.hpp"
#include "../part_builder.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct TimeConv {
  std::int64_t kernel = 1;
  bool bias = true;
  bool weight_norm = true;
  double uses = -1;  ///< negative: the part's positions
};
void add_time_conv(PartBuilder& part, std::string_view name, std::int64_t outputs, std::int64_t inputs, TimeConv o);
/// The other way round: every input position is spread over `kernel` outputs, so `uses` counts inputs.
void add_transposed_conv(PartBuilder& part, std::string_view name, std::int64_t outputs, std::int64_t inputs,
                         TimeConv o);

/// Residual blocks of one resolution: how long their kernels are and how many pairs each has.
struct VocoderBlock {
  std::int64_t kernel = 3;
  std::int64_t pairs = 3;
};
struct Vocoder {
  std::int64_t inputs = 0;
  std::int64_t channels = 512;  ///< of the first layer; halves with each upsampling
  std::vector<std::int64_t> rates{8, 8, 2, 2};
  std::vector<std::int64_t> kernels{16, 16, 4, 4};
  std::vector<VocoderBlock> blocks{{3, 3}, {7, 3}, {11, 3}};
  std::int64_t condition = 0;   ///< width of what tells the speaker; 0: one speaker
  bool condition_each = false;  ///< at every resolution, not only the first
  bool weight_norm = true;      ///< of the inner layers

  [[nodiscard]] double samples_per_frame() const;
};
/// The generator of HiFi-GAN.
void add_vocoder(PartBuilder& part, const Vocoder& vocoder, double frames);
/// `upsample_rates`, `upsample_kernel_sizes`, `resblock_kernel_sizes`, …; false when they do not fit together.
bool read_vocoder(Fields& in, Vocoder& vocoder);

/// A bidirectional LSTM that gives `outputs` in all.
void add_recurrent_pair(PartBuilder& part, std::string_view name, std::int64_t outputs, std::int64_t inputs);

inline constexpr std::string_view kSecond = "second of audio";

}  // namespace gpuplan
