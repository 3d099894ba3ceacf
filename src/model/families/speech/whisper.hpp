#pragma once
/// The encoder of Whisper, alone or in front of a text model.

#include "../encoders/encoder_blocks.hpp"
#include "../part_builder.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuplan {

inline constexpr std::string_view kAudioWindow = "30 s of audio";  ///< what the encoder's positions stand for

struct AudioEncoderShape : BlockShape {
  std::int64_t layers = 1;
  std::int64_t bins = 80;  ///< of the mel spectrogram
  std::int64_t positions = 1500;
};

/// Two convolutions, of which the second halves the frames to the positions, and layers whose keys have no bias.
PartBuilder build_audio_encoder(std::string name, const AudioEncoderShape& shape);

}  // namespace gpuplan
