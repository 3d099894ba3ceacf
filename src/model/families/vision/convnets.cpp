/// Networks of plain convolutions: residual, densely connected, and those before them.
/// Shapes: the implementations of torchvision and timm; for configurations with a class, transformers.

#include "../encoders/encoder_blocks.hpp"
#include "vision.hpp"

#include <array>
#include <string>
#include <vector>

namespace gpuplan {
namespace {

constexpr std::int64_t kSide = 224;
constexpr Window kHalve{.size = 3, .stride = 2};
constexpr Window kPool{.size = 2, .stride = 2, .padding = 0};
constexpr std::int64_t kMostWidth = 1000000;

struct ResidualShape {
  std::vector<std::int64_t> depths;
  std::vector<std::int64_t> widths;  // outputs of the stages
  std::int64_t stem = 64;
  std::int64_t reduction = 4;  // 1: two 3 x 3 kernels a block, else a bottleneck so much narrower
  bool halves_first_stage = false;
};

void add_residual_block(ConvStack& stack, const ResidualShape& shape, std::int64_t width, std::int64_t stride) {
  const std::int64_t inputs = stack.channels();
  if (stride > 1 || inputs != width) {
    ConvStack shortcut = stack;
    shortcut.conv("shortcut", width, {.window = {.size = 1, .stride = stride}});
  }
  if (shape.reduction == 1) {
    stack.conv("conv1", width, {.window = {.stride = stride}});
    stack.conv("conv2", width, {});
    return;
  }
  const std::int64_t narrow = std::max<std::int64_t>(1, width / shape.reduction);
  stack.conv("conv1", narrow, {.window = {.size = 1}});
  stack.conv("conv2", narrow, {.window = {.stride = stride}});
  stack.conv("conv3", width, {.window = {.size = 1}});
}

void add_residual_network(PartBuilder& part, const ResidualShape& shape, const ImageInput& input) {
  ConvStack stack(part, input.size, input.channels);
  stack.conv("stem", shape.stem, {.window = {.size = 7, .stride = 2}});
  stack.pool(kHalve);
  for (std::size_t i = 0; i < shape.depths.size(); ++i) {
    const bool halves = i > 0 || shape.halves_first_stage;
    add_stage(part, "stage" + std::to_string(i + 1), shape.depths[i],
              [&](bool first) { add_residual_block(stack, shape, shape.widths[i], first && halves ? 2 : 1); });
  }
  if (input.classes > 0) part.linear("classifier", input.classes, stack.channels(), {.uses = 1});
}

/// `depths` and `hidden_sizes`, equally many and few.
bool read_stages(Fields& in, ResidualShape& shape) {
  if (in.has({"depths"})) shape.depths = in.amounts("depths");
  if (in.has({"hidden_sizes"})) shape.widths = in.amounts("hidden_sizes");
  constexpr std::size_t most_stages = 16;
  bool good = shape.depths.size() == shape.widths.size() && shape.depths.size() <= most_stages;
  for (const std::int64_t width : shape.widths) good = good && width >= 1 && width <= kMostWidth;
  if (!good) in.wrong("depths", "'depths' and 'hidden_sizes' do not fit", "one depth and one width a stage");
  return good;
}

/// ResNetConfig.
void read_residual_config(Fields& in, Network& out) {
  ImageInput input;
  input.name = "residual network";
  input.size = {kSide, kSide};
  input.channels = bounded_count(in, "num_channels", 3, kMostWidth);
  const bool classifies = class_of(in).ends_with("ForImageClassification");
  input.classes = classifies ? read_labels(in) : 0;
  ResidualShape shape{{3, 4, 6, 3}, {256, 512, 1024, 2048}};
  shape.stem = bounded_count(in, "embedding_size", shape.stem, kMostWidth);
  if (in.text({"layer_type"}) == "basic") shape.reduction = 1;
  shape.halves_first_stage = in.flag({"downsample_in_first_stage"}, false);
  if (in.flag({"downsample_in_bottleneck"}, false)) in.unreadable("a residual network with downsample_in_bottleneck");
  if (!read_stages(in, shape)) return;
  PartBuilder part("vision_model", input.title(), input.item());
  add_residual_network(part, shape, input);
  out.parts.push_back(part.take());
}

struct ResidualRow {
  std::int64_t layers;
  std::array<std::int64_t, 4> depths;
  bool bottleneck;
};
constexpr ResidualRow kResidual[] = {
    {18, {2, 2, 2, 2}, false},  {34, {3, 4, 6, 3}, false},  {50, {3, 4, 6, 3}, true},
    {101, {3, 4, 23, 3}, true}, {152, {3, 8, 36, 3}, true},
};

struct PlainRow {
  std::int64_t layers;
  std::array<std::int64_t, 5> depths;  // kernels before each halving
};
constexpr PlainRow kPlain[] = {
    {11, {1, 1, 2, 2, 2}}, {13, {2, 2, 2, 2, 2}}, {16, {2, 2, 3, 3, 3}}, {19, {2, 2, 4, 4, 4}}};

struct DenseRow {
  std::int64_t layers;
  std::array<std::int64_t, 4> depths;
  std::int64_t stem;
  std::int64_t growth;
};
constexpr DenseRow kDense[] = {
    {121, {6, 12, 24, 16}, 64, 32},
    {161, {6, 12, 36, 24}, 96, 48},
    {169, {6, 12, 32, 32}, 64, 32},
    {201, {6, 12, 48, 32}, 64, 32},
};

template <class Row, std::size_t N>
const Row* row_of(const Row (&rows)[N], const ImageInput& input, std::size_t most_words) {
  if (input.words.empty() || input.words.size() > most_words) return nullptr;
  for (const Row& row : rows) {
    if (row.layers == number_at_end(input.words.front())) return &row;
  }
  return nullptr;
}

/// Whether one of the convolutions listed in `model_args` is split into two groups.
bool lists_towers(const Fields& in) {
  const Node* arguments = in.find({"model_args"});
  const Node* list = arguments ? arguments->find("convolutions") : nullptr;
  if (!list || list->kind != Node::Kind::sequence) return false;
  return std::any_of(list->items.begin(), list->items.end(),
                     [](const Node& conv) { return whole_number_of(conv.find("groups")).value_or(1) == 2; });
}

constexpr std::int64_t kDenseWidth = 4096;

void add_classifier(PartBuilder& part, std::int64_t inputs, std::int64_t classes) {
  part.linear("fc1", kDenseWidth, inputs, {.uses = 1});
  part.linear("fc2", kDenseWidth, kDenseWidth, {.uses = 1});
  if (classes > 0) part.linear("classifier", classes, kDenseWidth, {.uses = 1});
}

/// Every layer of a block sees what all layers before it gave.
void add_dense_block(PartBuilder& part, ConvStack& stack, const DenseRow& row, std::size_t block) {
  constexpr std::int64_t bottleneck = 4;
  const std::string prefix = "block" + std::to_string(block + 1) + ".";
  for (std::int64_t i = 0; i < row.depths[block]; ++i) {
    ConvStack layer = stack;
    part.norm(prefix + "norm1", layer.channels());
    layer.conv(prefix + "conv1", bottleneck * row.growth, {.window = {.size = 1}});
    layer.conv(prefix + "conv2", row.growth, {.norm = false});
    stack.joined(stack.channels() + row.growth);
  }
  part.norm(prefix + "norm", stack.channels());
  if (block + 1 == row.depths.size()) return;
  stack.conv(prefix + "transition", stack.channels() / 2, {.window = {.size = 1}, .norm = false});
  stack.pool(kPool);
}

}  // namespace

void read_resnet(Fields& in, Network& out) {
  if (!in.has({"architecture"})) {
    read_residual_config(in, out);
    return;
  }
  const ImageInput input = read_image_input(in, kSide);
  const ResidualRow* row = row_of(kResidual, input, 1);
  if (!row) {
    unknown_variant(in, input.name);
    return;
  }
  ResidualShape shape;
  shape.depths.assign(row->depths.begin(), row->depths.end());
  shape.reduction = row->bottleneck ? 4 : 1;
  for (const std::int64_t width : {64, 128, 256, 512}) shape.widths.push_back(width * shape.reduction);
  PartBuilder part("vision_model", input.title(), input.item());
  add_residual_network(part, shape, input);
  out.parts.push_back(part.take());
}

/// `vgg16`, and `vgg16_bn` with batch norms.
void read_vgg(Fields& in, Network& out) {
  const ImageInput input = read_image_input(in, kSide);
  const PlainRow* row = row_of(kPlain, input, 2);
  const bool norms = input.words.size() == 2;
  if (!row || (norms && input.words[1] != "bn")) {
    unknown_variant(in, input.name);
    return;
  }
  PartBuilder part("vision_model", input.title(), input.item());
  ConvStack stack(part, input.size, input.channels);
  constexpr std::int64_t widest = 512;
  std::int64_t width = 64;
  for (std::size_t i = 0; i < row->depths.size(); ++i) {
    add_stage(part, "stage" + std::to_string(i + 1), row->depths[i],
              [&](bool) { stack.conv("conv", width, {.bias = true, .norm = norms}); });
    stack.pool(kPool);
    width = std::min(2 * width, widest);
  }
  constexpr std::int64_t pooled = 7 * 7;  // whatever the image's size
  add_classifier(part, widest * pooled, input.classes);
  out.parts.push_back(part.take());
}

/// Five convolutions and three dense layers: with convolutions in two groups the towers of 2012, else the later
/// single one.
void read_alexnet(Fields& in, Network& out) {
  const bool towers = lists_towers(in) || bounded_count(in, "groups", 1, 2) == 2;
  const std::int64_t groups = towers ? 2 : 1;
  const ImageInput input = read_image_input(in, towers ? 227 : kSide);
  if (input.words.size() > 1) {
    unknown_variant(in, input.name);
    return;
  }
  constexpr Window pool{.size = 3, .stride = 2, .padding = 0};
  PartBuilder part("vision_model", input.title(), input.item());
  ConvStack stack(part, input.size, input.channels);
  const ConvLayer first{.window = {.size = 11, .stride = 4, .padding = towers ? 0 : 2}, .bias = true, .norm = false};
  const ConvLayer plain{.bias = true, .norm = false};
  const ConvLayer split{.groups = groups, .bias = true, .norm = false};
  stack.conv("conv1", towers ? 96 : 64, first);
  stack.pool(pool);
  stack.conv("conv2", towers ? 256 : 192, {.window = {.size = 5}, .groups = groups, .bias = true, .norm = false});
  stack.pool(pool);
  stack.conv("conv3", 384, plain);
  stack.conv("conv4", towers ? 384 : 256, split);
  stack.conv("conv5", 256, split);
  constexpr std::int64_t pooled = 6 * 6;
  add_classifier(part, stack.channels() * pooled, input.classes);
  out.parts.push_back(part.take());
}

void read_densenet(Fields& in, Network& out) {
  const ImageInput input = read_image_input(in, kSide);
  const DenseRow* row = row_of(kDense, input, 1);
  if (!row) {
    unknown_variant(in, input.name);
    return;
  }
  PartBuilder part("vision_model", input.title(), input.item());
  ConvStack stack(part, input.size, input.channels);
  stack.conv("stem", row->stem, {.window = {.size = 7, .stride = 2}});
  stack.pool(kHalve);
  for (std::size_t i = 0; i < row->depths.size(); ++i) add_dense_block(part, stack, *row, i);
  if (input.classes > 0) part.linear("classifier", input.classes, stack.channels(), {.uses = 1});
  out.parts.push_back(part.take());
}

}  // namespace gpuplan
