/// One-stage detectors of the fifth generation: a backbone of cross-stage blocks, a pyramid up and down, and one
/// convolution a scale that gives the boxes. Shapes: the model files of the v6 releases (`yolov5*.yaml`).
///
/// Counted as it runs and as its summary counts it: batch norms are folded into the convolutions before them, each of
/// which then has a bias. A network in training has its norms beside them, 0.1 % more parameters.

#include "vision.hpp"

#include <cmath>
#include <string>

namespace gpuplan {
namespace {

constexpr std::int64_t kSide = 640;
constexpr std::int64_t kClasses = 80;

struct SizeRow {
  char letter;
  double depth;
  double width;
};
constexpr SizeRow kSizes[] = {
    {'n', 0.33, 0.25}, {'s', 0.33, 0.50}, {'m', 0.67, 0.75}, {'l', 1.0, 1.0}, {'x', 1.33, 1.25}};

class Detector {
 public:
  Detector(PartBuilder& part, const ImageInput& input, double depth, double width)
      : part_(part), stack_(part, input.size, input.channels), classes_(input.classes), depth_(depth), width_(width) {}

  void add() {
    conv("backbone.stem", 64, {.size = 6, .stride = 2, .padding = 2});
    stage("backbone.stage2", 128, 3);
    stage("backbone.stage3", 256, 6);
    const ConvStack third = stack_;
    stage("backbone.stage4", 512, 9);
    const ConvStack fourth = stack_;
    stage("backbone.stage5", 1024, 3);
    pool_pyramid("backbone.pooling");
    conv("pyramid.lateral5", 512, {.size = 1});
    const ConvStack lateral5 = stack_;
    up("pyramid.up4", fourth, 512);
    conv("pyramid.lateral4", 256, {.size = 1});
    const ConvStack lateral4 = stack_;
    up("pyramid.up3", third, 256);
    detect("detect3");
    down("pyramid.down4", lateral4, 256, 512);
    detect("detect4");
    down("pyramid.down5", lateral5, 512, 1024);
    detect("detect5");
  }

 private:
  [[nodiscard]] std::int64_t channels(std::int64_t nominal) const {
    constexpr double divisor = 8;
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(nominal) * width_ / divisor) * divisor);
  }
  [[nodiscard]] std::int64_t repeats(std::int64_t nominal) const {
    return std::max<std::int64_t>(1, std::llrint(static_cast<double>(nominal) * depth_));
  }
  static void fused(ConvStack& stack, const std::string& name, std::int64_t outputs, const Window& window) {
    stack.conv(name, outputs, {.window = window, .bias = true, .norm = false});
  }
  void conv(const std::string& name, std::int64_t nominal, const Window& window) {
    fused(stack_, name, channels(nominal), window);
  }

  /// Half of the channels goes through bottlenecks, half past them.
  void cross_stage(const std::string& name, std::int64_t nominal, std::int64_t nominal_repeats) {
    const std::int64_t outputs = channels(nominal);
    const std::int64_t half = outputs / 2;
    ConvStack past = stack_;
    fused(past, name + ".conv2", half, {.size = 1});
    fused(stack_, name + ".conv1", half, {.size = 1});
    part_.layers(
        repeats(nominal_repeats),
        [&](PartBuilder&) {
          fused(stack_, "conv1", half, {.size = 1});
          fused(stack_, "conv2", half, {});
        },
        name + ".bottlenecks");
    stack_.joined(2 * half);
    fused(stack_, name + ".conv3", outputs, {.size = 1});
  }
  void stage(const std::string& name, std::int64_t nominal, std::int64_t nominal_repeats) {
    conv(name + ".downsample", nominal, {.stride = 2});
    cross_stage(name, nominal, nominal_repeats);
  }
  /// Three poolings in a row, all four of them side by side.
  void pool_pyramid(const std::string& name) {
    const std::int64_t outputs = stack_.channels();
    fused(stack_, name + ".conv1", outputs / 2, {.size = 1});
    stack_.joined(outputs / 2 * 4);
    fused(stack_, name + ".conv2", outputs, {.size = 1});
  }
  /// Twice the size, beside what the backbone gave at that size.
  void up(const std::string& name, const ConvStack& skip, std::int64_t nominal) {
    const std::int64_t joined = stack_.channels() + skip.channels();
    stack_ = skip;
    stack_.joined(joined);
    cross_stage(name, nominal, 3);
  }
  void down(const std::string& name, const ConvStack& skip, std::int64_t nominal, std::int64_t outputs) {
    conv(name + ".downsample", nominal, {.stride = 2});
    stack_.joined(stack_.channels() + skip.channels());
    cross_stage(name, outputs, 3);
  }
  void detect(const std::string& name) {
    constexpr std::int64_t anchors = 3;
    constexpr std::int64_t box_and_score = 5;
    ConvStack branch = stack_;
    fused(branch, name, anchors * (classes_ + box_and_score), {.size = 1});
  }

  PartBuilder& part_;
  ConvStack stack_;
  std::int64_t classes_;
  double depth_;
  double width_;
};

}  // namespace

void read_yolov5(Fields& in, Network& out) {
  ImageInput input = read_image_input(in, kSide);
  if (!in.has({"num_classes"})) input.classes = in.count_or({"nc"}, kClasses);
  const SizeRow* size = nullptr;
  for (const SizeRow& row : kSizes) {
    if (input.name == std::string("yolov5") + row.letter) size = &row;
  }
  const double depth = fraction_or(in, "depth_multiple", size ? size->depth : 1);
  const double width = fraction_or(in, "width_multiple", size ? size->width : 1);
  if (!size && !(in.has({"depth_multiple"}) && in.has({"width_multiple"}))) {
    unknown_variant(in, input.name);
    return;
  }
  PartBuilder part("vision_model", input.title(), input.item());
  Detector(part, input, depth, width).add();
  out.parts.push_back(part.take());
}

}  // namespace gpuplan
