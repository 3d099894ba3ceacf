#include <gpuplan/job/parts.hpp>

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

constexpr std::array<std::pair<Offload, std::string_view>, 3> kOffloads = {
    {{Offload::none, "none"}, {Offload::model, "model"}, {Offload::sequential, "sequential"}}};
constexpr std::array<std::pair<VaeMode, std::string_view>, 3> kVaeModes = {
    {{VaeMode::whole, "whole"}, {VaeMode::sliced, "sliced"}, {VaeMode::tiled, "tiled"}}};
constexpr std::int64_t kMostPixels = 65536;  // a side

template <class E, std::size_t N>
std::string_view text_of(E value, const std::array<std::pair<E, std::string_view>, N>& words) {
  for (const auto& [one, word] : words) {
    if (one == value) return word;
  }
  return words.front().second;
}

template <class E, std::size_t N>
Parsed<E> value_of(std::string_view text, const std::array<std::pair<E, std::string_view>, N>& words) {
  std::vector<std::string> all;
  std::vector<std::string_view> views;
  for (const auto& [value, word] : words) {
    if (word == text) return Parsed<E>::ok(value);
    all.emplace_back(word);
    views.push_back(word);
  }
  return Parsed<E>::fail("unknown value '" + std::string(text) + "'", join(all, ", "), nearest_name(text, views),
                         "input.unknown_name");
}

}  // namespace

std::string_view to_string(Offload value) { return text_of(value, kOffloads); }
std::string_view to_string(VaeMode value) { return text_of(value, kVaeModes); }
Parsed<Offload> parse_offload(std::string_view text) { return value_of(text, kOffloads); }
Parsed<VaeMode> parse_vae_mode(std::string_view text) { return value_of(text, kVaeModes); }

Parsed<PixelSize> parse_pixel_size(std::string_view text) {
  const std::size_t by = text.find_first_of("xX");
  const auto side = [](std::string_view part) { return parse_count(part).value.value_or(0); };
  PixelSize size;
  size.width = side(text.substr(0, by));
  size.height = by == std::string_view::npos ? size.width : side(text.substr(by + 1));
  const auto possible = [](std::int64_t n) { return n >= 1 && n <= kMostPixels; };
  if (possible(size.width) && possible(size.height)) return Parsed<PixelSize>::ok(size);
  return Parsed<PixelSize>::fail("bad size '" + std::string(text) + "'",
                                 "width x height in pixels, such as 1024x768, each from 1 to 65,536");
}

}  // namespace gpuplan
