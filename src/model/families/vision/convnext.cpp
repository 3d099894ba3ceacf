/// Convolutions in the shape of a transformer's block. Shapes: timm's `convnext.py`, transformers' ConvNextConfig.

#include "../encoders/encoder_blocks.hpp"
#include "vision.hpp"

#include <array>
#include <string>
#include <vector>

namespace gpuplan {
namespace {

constexpr std::int64_t kMostWidth = 1000000;

struct ConvNextShape {
  std::vector<std::int64_t> depths{3, 3, 9, 3};
  std::vector<std::int64_t> widths{96, 192, 384, 768};
  std::int64_t patch = 4;
  bool layer_scale = true;
};

void add_block(PartBuilder& part, ConvStack& stack, const ConvNextShape& shape) {
  const std::int64_t width = stack.channels();
  const double uses = stack.grid().positions();
  stack.conv("depthwise", width, {.window = {.size = 7}, .groups = width, .bias = true, .norm = false});
  part.norm("norm", width);
  part.linear("mlp.up", 4 * width, width, {.role = TensorRole::mlp, .uses = uses});
  part.linear("mlp.down", width, 4 * width, {.role = TensorRole::mlp, .uses = uses});
  if (shape.layer_scale) part.vector("layer_scale", TensorRole::norm, width);
}

void add_network(Network& out, const ImageInput& input, const ConvNextShape& shape) {
  PartBuilder part("vision_model", input.title(), input.item());
  ConvStack stack(part, input.size, input.channels);
  const ConvLayer patches{
      .window = {.size = shape.patch, .stride = shape.patch, .padding = 0}, .bias = true, .norm = false};
  const ConvLayer halve{.window = {.size = 2, .stride = 2, .padding = 0}, .bias = true, .norm = false};
  for (std::size_t i = 0; i < shape.depths.size(); ++i) {
    const std::string stage = "stage" + std::to_string(i + 1);
    if (i > 0) part.norm(stage + ".downsample_norm", stack.channels());
    stack.conv(stage + ".downsample", shape.widths[i], i > 0 ? halve : patches);
    if (i == 0) part.norm("stem_norm", stack.channels());
    add_stage(part, stage, shape.depths[i], [&](bool) { add_block(part, stack, shape); });
  }
  part.norm("norm", stack.channels());
  if (input.classes > 0) part.linear("classifier", input.classes, stack.channels(), {.uses = 1});
  out.parts.push_back(part.take());
}

/// ConvNextConfig.
void read_config(Fields& in, Network& out) {
  ImageInput input;
  input.name = "convolutional network";
  input.size = read_image_size(in, 224);
  input.channels = bounded_count(in, "num_channels", 3, kMostWidth);
  input.classes = class_of(in).ends_with("ForImageClassification") ? read_labels(in) : 0;
  ConvNextShape shape;
  if (in.has({"depths"})) shape.depths = in.amounts("depths");
  if (in.has({"hidden_sizes"})) shape.widths = in.amounts("hidden_sizes");
  shape.patch = bounded_count(in, "patch_size", shape.patch, 1000);
  shape.layer_scale = whole_number_of(in.find({"layer_scale_init_value"})).value_or(1) != 0;
  constexpr std::size_t most_stages = 16;
  bool good = shape.depths.size() == shape.widths.size() && shape.depths.size() <= most_stages && !shape.depths.empty();
  for (const std::int64_t width : shape.widths) good = good && width >= 1 && width <= kMostWidth;
  if (!good) {
    in.wrong("depths", "'depths' and 'hidden_sizes' do not fit", "one depth and one width a stage");
    return;
  }
  add_network(out, input, shape);
}

struct SizeRow {
  std::string_view name;
  std::array<std::int64_t, 4> depths;
  std::int64_t width;
};
constexpr SizeRow kSizes[] = {{"tiny", {3, 3, 9, 3}, 96},
                              {"small", {3, 3, 27, 3}, 96},
                              {"base", {3, 3, 27, 3}, 128},
                              {"large", {3, 3, 27, 3}, 192},
                              {"xlarge", {3, 3, 27, 3}, 256}};

}  // namespace

void read_convnext(Fields& in, Network& out) {
  if (!in.has({"architecture"})) {
    read_config(in, out);
    return;
  }
  const ImageInput input = read_image_input(in, 224);
  for (const SizeRow& row : kSizes) {
    if (input.words.size() != 2 || input.words[1] != row.name) continue;
    ConvNextShape shape;
    shape.depths.assign(row.depths.begin(), row.depths.end());
    shape.widths = {row.width, 2 * row.width, 4 * row.width, 8 * row.width};
    add_network(out, input, shape);
    return;
  }
  unknown_variant(in, input.name);
}

}  // namespace gpuplan
