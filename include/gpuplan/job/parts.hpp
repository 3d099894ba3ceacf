#pragma once
/// What a job asks of a network that does not generate token by token: how many items at once, how large, and what may leave the
/// device in the meantime.
///
///     PartsJob job;
///     job.batch = 4;
///     job.width = job.height = 768;

#include <gpuplan/base/reader.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuplan {

/// `model`: one component is on the device at a time; `sequential`: one module, each fetched when it is used.
enum class Offload : std::uint8_t { none, model, sequential };
/// How the autoencoder works: on the whole batch, image by image, or image by image in tiles.
enum class VaeMode : std::uint8_t { whole, sliced, tiled };

std::string_view to_string(Offload value);
std::string_view to_string(VaeMode value);
Parsed<Offload> parse_offload(std::string_view text);
Parsed<VaeMode> parse_vae_mode(std::string_view text);

/// Width and height of pictures in pixels.
struct PixelSize {
  std::int64_t width = 0;
  std::int64_t height = 0;
};
/// `1024x768`, or one number for both sides.
Parsed<PixelSize> parse_pixel_size(std::string_view text);

/// Sizes of 0 are the network's own.
struct PartsJob {
  std::int64_t batch = 1;      ///< items at once: images, videos, texts, recordings
  bool chooses_batch = false;  ///< the batch of the most throughput that fits takes the place of `batch`
  std::int64_t width = 0;      ///< pixels
  std::int64_t height = 0;     ///< pixels
  std::int64_t frames = 0;
  std::int64_t length = 0;  ///< tokens of each text
  std::int64_t steps = 0;   ///< of a sampler; 0: what is usual
  double audio = 0;         ///< seconds of each recording; 0: what the network takes at once
  double items = 0;         ///< pictures, documents, samples or hours of sound in all; 0: the job does not end
  double tokens = 0;        ///< of text in all, in place of items; 0: by items
  Offload offload = Offload::none;
  VaeMode vae = VaeMode::whole;
  std::optional<bool> flash_attention;  ///< attention without stored scores; empty: as the runtime does
  std::optional<bool>
      guidance;  ///< classifier-free guidance, which doubles the batch; empty: unless it is distilled in
};

}  // namespace gpuplan
