/// Networks of inverted residual blocks: a wide depthwise kernel between two narrow projections.
/// Shapes: the block definitions of timm (`efficientnet.py`, `mobilenetv3.py`).

#include "vision.hpp"

#include <array>
#include <cmath>
#include <span>
#include <string>

namespace gpuplan {
namespace {

constexpr std::int64_t kSide = 224;

enum class Squeeze : std::uint8_t { none, of_input, of_expansion };

struct BlockRow {
  std::int64_t repeats;
  std::int64_t kernel;
  std::int64_t stride;
  double expansion;  // 1: no projection before the depthwise kernel
  std::int64_t outputs;
  Squeeze squeeze = Squeeze::none;
};

/// Channels are multiples of eight, never under nine tenths of what was asked for.
std::int64_t round_channels(double channels) {
  constexpr std::int64_t divisor = 8;
  const auto down = static_cast<std::int64_t>(channels + divisor / 2.0) / divisor * divisor;
  const std::int64_t rounded = std::max(divisor, down);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + divisor : rounded;
}

void add_squeeze(PartBuilder& part, const BlockRow& block, std::int64_t inputs, std::int64_t width) {
  if (block.squeeze == Squeeze::none) return;
  constexpr double share = 0.25;
  const std::int64_t narrow = block.squeeze == Squeeze::of_input
                                  ? static_cast<std::int64_t>(std::lround(share * static_cast<double>(inputs)))
                                  : round_channels(share * static_cast<double>(width));
  part.conv("squeeze", narrow, width, 1, {.uses = 1});
  part.conv("excite", width, narrow, 1, {.uses = 1});
}

void add_block(PartBuilder& part, ConvStack& stack, const BlockRow& block, std::int64_t outputs, std::int64_t stride) {
  const std::int64_t inputs = stack.channels();
  const bool expands = block.expansion > 1;
  if (expands)
    stack.conv("expand", round_channels(static_cast<double>(inputs) * block.expansion), {.window = {.size = 1}});
  const std::int64_t width = stack.channels();
  stack.conv("depthwise", width, {.window = {.size = block.kernel, .stride = stride}, .groups = width});
  add_squeeze(part, block, inputs, width);
  stack.conv("project", outputs, {.window = {.size = 1}});
}

struct Scaling {
  double width = 1;
  double depth = 1;
};

void add_blocks(PartBuilder& part, ConvStack& stack, std::span<const BlockRow> blocks, const Scaling& scaling) {
  int number = 0;
  for (const BlockRow& block : blocks) {
    const auto repeats = static_cast<std::int64_t>(std::ceil(static_cast<double>(block.repeats) * scaling.depth));
    const std::int64_t outputs = round_channels(static_cast<double>(block.outputs) * scaling.width);
    add_stage(part, "stage" + std::to_string(++number), repeats,
              [&](bool first) { add_block(part, stack, block, outputs, first ? block.stride : 1); });
  }
}

constexpr std::array<BlockRow, 7> kEfficient{{
    {1, 3, 1, 1, 16, Squeeze::of_input},
    {2, 3, 2, 6, 24, Squeeze::of_input},
    {2, 5, 2, 6, 40, Squeeze::of_input},
    {3, 3, 2, 6, 80, Squeeze::of_input},
    {3, 5, 1, 6, 112, Squeeze::of_input},
    {4, 5, 2, 6, 192, Squeeze::of_input},
    {1, 3, 1, 6, 320, Squeeze::of_input},
}};

struct EfficientRow {
  std::string_view name;
  Scaling scaling;
  std::int64_t side;  // what it was published with
};
constexpr EfficientRow kEfficientSizes[] = {
    {"b0", {1.0, 1.0}, 224}, {"b1", {1.0, 1.1}, 240}, {"b2", {1.1, 1.2}, 260}, {"b3", {1.2, 1.4}, 300},
    {"b4", {1.4, 1.8}, 380}, {"b5", {1.6, 2.2}, 456}, {"b6", {1.8, 2.6}, 528}, {"b7", {2.0, 3.1}, 600},
};

constexpr std::array<BlockRow, 7> kSecond{{
    {1, 3, 1, 1, 16},
    {2, 3, 2, 6, 24},
    {3, 3, 2, 6, 32},
    {4, 3, 2, 6, 64},
    {3, 3, 1, 6, 96},
    {3, 3, 2, 6, 160},
    {1, 3, 1, 6, 320},
}};

constexpr std::array<BlockRow, 9> kThirdLarge{{
    {1, 3, 1, 1, 16},
    {1, 3, 2, 4, 24},
    {1, 3, 1, 3, 24},
    {3, 5, 2, 3, 40, Squeeze::of_expansion},
    {1, 3, 2, 6, 80},
    {1, 3, 1, 2.5, 80},
    {2, 3, 1, 2.3, 80},
    {2, 3, 1, 6, 112, Squeeze::of_expansion},
    {3, 5, 2, 6, 160, Squeeze::of_expansion},
}};

constexpr std::array<BlockRow, 7> kThirdSmall{{
    {1, 3, 2, 1, 16, Squeeze::of_expansion},
    {1, 3, 2, 4.5, 24},
    {1, 3, 1, 3.67, 24},
    {1, 5, 2, 4, 40, Squeeze::of_expansion},
    {2, 5, 1, 6, 40, Squeeze::of_expansion},
    {2, 5, 1, 3, 48, Squeeze::of_expansion},
    {3, 5, 2, 6, 96, Squeeze::of_expansion},
}};

struct HeadShape {
  std::int64_t stem = 32;
  std::int64_t features = 1280;
  Scaling scaling;
};

/// The second generation and its scaled successors end alike: a wide projection, pooled and classified.
void add_network(Network& out, const ImageInput& input, std::span<const BlockRow> blocks, const HeadShape& shape) {
  PartBuilder part("vision_model", input.title(), input.item());
  ConvStack stack(part, input.size, input.channels);
  stack.conv("stem", shape.stem, {.window = {.stride = 2}});
  add_blocks(part, stack, blocks, shape.scaling);
  stack.conv("head", shape.features, {.window = {.size = 1}});
  if (input.classes > 0) part.linear("classifier", input.classes, shape.features, {.uses = 1});
  out.parts.push_back(part.take());
}

}  // namespace

void read_efficientnet(Fields& in, Network& out) {
  ImageInput input = read_image_input(in, kSide);
  for (const EfficientRow& row : kEfficientSizes) {
    if (input.words.size() != 2 || input.words[1] != row.name) continue;
    input = read_image_input(in, row.side);
    HeadShape shape;
    shape.scaling = row.scaling;
    shape.stem = round_channels(32 * row.scaling.width);
    shape.features = round_channels(1280 * row.scaling.width);
    add_network(out, input, kEfficient, shape);
    return;
  }
  unknown_variant(in, input.name);
}

/// `mobilenetv2_100`: the number is the width in percent.
void read_mobilenet_v2(Fields& in, Network& out) {
  const ImageInput input = read_image_input(in, kSide);
  const std::int64_t percent = input.words.size() == 2 ? number_at_end(input.words[1]) : 0;
  if (percent < 1 || percent > 1000 || std::to_string(percent) != input.words[1].substr(input.words[1][0] == '0')) {
    unknown_variant(in, input.name);
    return;
  }
  HeadShape shape;
  shape.scaling.width = static_cast<double>(percent) / 100;
  shape.stem = round_channels(32 * shape.scaling.width);
  shape.features = std::max(shape.features, round_channels(1280 * shape.scaling.width));
  add_network(out, input, kSecond, shape);
}

/// `mobilenetv3_large_100`, `mobilenetv3_small_100`.
void read_mobilenet_v3(Fields& in, Network& out) {
  const ImageInput input = read_image_input(in, kSide);
  const bool known = input.words.size() == 3 && input.words[2] == "100";
  const bool large = known && input.words[1] == "large";
  if (!large && !(known && input.words[1] == "small")) {
    unknown_variant(in, input.name);
    return;
  }
  PartBuilder part("vision_model", input.title(), input.item());
  ConvStack stack(part, input.size, input.channels);
  stack.conv("stem", 16, {.window = {.stride = 2}});
  add_blocks(part, stack, large ? std::span<const BlockRow>(kThirdLarge) : kThirdSmall, {});
  stack.conv("last", 6 * stack.channels(), {.window = {.size = 1}});
  const std::int64_t features = large ? 1280 : 1024;
  part.conv("head", features, stack.channels(), 1, {.uses = 1});  // after the pooling
  if (input.classes > 0) part.linear("classifier", input.classes, features, {.uses = 1});
  out.parts.push_back(part.take());
}

}  // namespace gpuplan
