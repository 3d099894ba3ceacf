#pragma once
/// What autoencoders of images and of video share.

#include "blocks.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// A video's size in pixels and frames; each halving of time keeps the first frame apart.
struct Clip {
  double width = 0;
  double height = 0;
  double frames = 1;

  [[nodiscard]] double positions() const { return width * height * frames; }
  [[nodiscard]] Clip halved(bool space, bool time) const;
  [[nodiscard]] Clip doubled(bool space, bool time) const;
};

/// `832 x 480 x 81 frames`
std::string to_string(const Clip& clip);

/// The clip at each of `count` resolutions, the first as it is; whether space and time shrink after each.
std::vector<Clip> clip_resolutions(Clip first, std::size_t count, const std::vector<bool>& space,
                                   const std::vector<bool>& time);

/// One head over all positions, with a norm before it.
void add_middle_attention(PartBuilder& b, std::string_view name, std::int64_t channels, double queries, double keys);

}  // namespace gpuplan
