#pragma once
/// What networks over images share: the size of their input, stacks of convolutions, names such as
/// `vit_base_patch16_224`.
///
/// Parameters are those that learn, as the implementations count them: a batch norm's weight and bias, not its running
/// statistics, which files hold beside them (two more values a channel, at most about 1 % of the smallest network).
/// A matrix or kernel is used once per output position of one image of the network's own size.

#include "../family.hpp"
#include "../part_builder.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// A kernel that slides over a grid.
struct Window {
  std::int64_t size = 3;
  std::int64_t stride = 1;
  std::int64_t padding = -1;  ///< negative: as much as keeps the size at stride 1

  [[nodiscard]] std::int64_t area() const { return size * size; }
};

struct Grid {
  std::int64_t height = 1;
  std::int64_t width = 1;

  [[nodiscard]] double positions() const { return static_cast<double>(height) * static_cast<double>(width); }
  [[nodiscard]] Grid after(const Window& w) const {
    const std::int64_t padding = w.padding < 0 ? (w.size - 1) / 2 : w.padding;
    const auto along = [&](std::int64_t n) {
      return std::max<std::int64_t>(1, (std::max<std::int64_t>(0, n + 2 * padding - w.size)) / w.stride + 1);
    };
    return {along(height), along(width)};
  }
};

/// What a config of the library of image networks says besides the name.
struct ImageInput {
  std::string name;                ///< `resnet50`: the `architecture` without its tag
  std::vector<std::string> words;  ///< of the name, which has `_` between them
  Grid size;
  std::int64_t channels = 3;
  std::int64_t classes = 1000;  ///< 0: no classifier

  [[nodiscard]] std::string title() const;
  [[nodiscard]] std::string item() const;
};

/// `architecture`, `num_classes`, and `input_size` (a side, or channels, height and width), which may stand in
/// `pretrained_cfg`.
ImageInput read_image_input(Fields& in, std::int64_t native_side);
/// Says that the name tells of no network that is read.
void unknown_variant(Fields& in, const std::string& name);

/// `image_size` of an encoder's configuration: a side, or height and width.
Grid read_image_size(Fields& in, std::int64_t otherwise);
/// A number above zero that need not be whole, at most 16: how many times wider or deeper.
double fraction_or(Fields& in, std::string_view key, double otherwise);
/// The number that ends a word (`50` of `resnet50`), 0 without one.
std::int64_t number_at_end(std::string_view word);

struct ConvLayer {
  Window window;
  std::int64_t groups = 1;
  bool bias = false;
  bool norm = true;  ///< a batch norm follows
};

/// Convolutions one after another: knows the grid and the channels that the next one sees. A copy is a branch.
class ConvStack {
 public:
  ConvStack(PartBuilder& part, Grid grid, std::int64_t channels) : part_(&part), grid_(grid), channels_(channels) {}

  void conv(std::string_view name, std::int64_t outputs, const ConvLayer& o) {
    grid_ = grid_.after(o.window);
    part_->conv(name, outputs, channels_, o.window.area(),
                {.bias = o.bias, .groups = o.groups, .uses = grid_.positions()});
    channels_ = outputs;
    if (o.norm) part_->norm(std::string(name) + "_norm", outputs);
  }
  void pool(const Window& window) { grid_ = grid_.after(window); }
  void joined(std::int64_t channels) { channels_ = channels; }  ///< what is concatenated comes with its own channels

  [[nodiscard]] const Grid& grid() const { return grid_; }
  [[nodiscard]] std::int64_t channels() const { return channels_; }

 private:
  PartBuilder* part_;
  Grid grid_;
  std::int64_t channels_;
};

/// Blocks of a stage, of which the first changes size or width.
template <class Block>
void add_stage(PartBuilder& part, std::string_view name, std::int64_t depth, Block&& block) {
  part.layers(
      std::min<std::int64_t>(depth, 1), [&](PartBuilder&) { block(true); }, name);
  part.layers(
      depth - 1, [&](PartBuilder&) { block(false); }, name);
}

}  // namespace gpuplan
