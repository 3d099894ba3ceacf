#include "autoencoder.hpp"

#include <cmath>

namespace gpuplan {

Clip Clip::halved(bool space, bool time) const {
  Clip out = *this;
  if (space) {
    out.width /= 2;
    out.height /= 2;
  }
  if (time) out.frames = std::floor((frames + 1) / 2);
  return out;
}

Clip Clip::doubled(bool space, bool time) const {
  Clip out = *this;
  if (space) {
    out.width *= 2;
    out.height *= 2;
  }
  if (time) out.frames = 2 * frames - 1;
  return out;
}

std::string to_string(const Clip& clip) {
  return whole_text(clip.width) + " x " + whole_text(clip.height) + " x " + whole_text(clip.frames) + " frames";
}

std::vector<Clip> clip_resolutions(Clip first, std::size_t count, const std::vector<bool>& space,
                                   const std::vector<bool>& time) {
  std::vector<Clip> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(first);
    if (i < space.size() && i < time.size()) first = first.halved(space[i], time[i]);
  }
  return out;
}

void add_middle_attention(PartBuilder& b, std::string_view name, std::int64_t channels, double queries, double keys) {
  b.norm(std::string(name) + ".norm", channels);
  add_attention(b, name, {channels, channels, channels, queries, queries});
  b.attend(1, channels, queries, keys);
}

}  // namespace gpuplan
