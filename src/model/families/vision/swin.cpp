/// Transformers whose patches attend within shifted windows and are merged from stage to stage. Shapes: timm's
/// `swin_transformer.py`, transformers' SwinConfig.

#include "../encoders/encoder_blocks.hpp"
#include "vision.hpp"

#include <array>
#include <string>
#include <vector>

namespace gpuplan {
namespace {

constexpr std::int64_t kMostWidth = 100000;
constexpr std::int64_t kMostWindow = 1000;

struct WindowTransformer {
  std::vector<std::int64_t> depths{2, 2, 6, 2};
  std::vector<std::int64_t> heads{3, 6, 12, 24};
  std::int64_t width = 96;  // doubles with each stage
  std::int64_t patch = 4;
  std::int64_t window = 7;
  double mlp_ratio = 4;
  bool qkv_bias = true;
  bool absolute_positions = false;
};

void add_block(PartBuilder& part, const WindowTransformer& t, const Grid& grid, std::int64_t width,
               std::int64_t heads) {
  const double uses = grid.positions();
  const auto mlp = std::max<std::int64_t>(1, static_cast<std::int64_t>(t.mlp_ratio * static_cast<double>(width)));
  const std::int64_t window = std::min(t.window, std::min(grid.height, grid.width));
  part.norm("norm1", width);
  part.linear("attention.qkv", width, width,
              {.count = 3, .bias = t.qkv_bias, .role = TensorRole::attention, .uses = uses});
  part.linear("attention.output", width, width, {.role = TensorRole::attention, .uses = uses});
  part.table("attention.relative_positions", (2 * window - 1) * (2 * window - 1), heads, TensorRole::position);
  part.norm("norm2", width);
  part.linear("mlp.up", mlp, width, {.role = TensorRole::mlp, .uses = uses});
  part.linear("mlp.down", width, mlp, {.role = TensorRole::mlp, .uses = uses});
  part.attend(heads, std::max<std::int64_t>(1, width / heads), uses, static_cast<double>(window * window));
}

/// Four neighbours become one of twice the width.
void merge_patches(PartBuilder& part, Grid& grid, std::int64_t width, const std::string& stage) {
  constexpr std::int64_t neighbours = 4;
  grid = {(grid.height + 1) / 2, (grid.width + 1) / 2};
  part.norm(stage + ".merge_norm", neighbours * width);
  part.linear(stage + ".merge", 2 * width, neighbours * width, {.bias = false, .uses = grid.positions()});
}

void add_network(Network& out, const ImageInput& input, const WindowTransformer& t) {
  PartBuilder part("vision_model", input.title(), input.item());
  Grid grid = input.size.after({.size = t.patch, .stride = t.patch, .padding = 0});
  part.conv("patch_embedding", t.width, input.channels, t.patch * t.patch, {.uses = grid.positions()});
  part.norm("patch_norm", t.width);
  if (t.absolute_positions) part.table("position_embedding", grid.height * grid.width, t.width, TensorRole::position);
  std::int64_t width = t.width;
  for (std::size_t i = 0; i < t.depths.size(); ++i) {
    const std::string stage = "stage" + std::to_string(i + 1);
    if (i > 0) {
      merge_patches(part, grid, width, stage);
      width *= 2;
    }
    part.layers(
        t.depths[i], [&](PartBuilder& layer) { add_block(layer, t, grid, width, t.heads[i]); }, stage);
  }
  part.norm("norm", width);
  if (input.classes > 0) part.linear("classifier", input.classes, width, {.uses = 1});
  out.parts.push_back(part.take());
}

/// SwinConfig.
void read_config(Fields& in, Network& out) {
  ImageInput input;
  input.name = "transformer over windows";
  input.size = read_image_size(in, 224);
  input.channels = bounded_count(in, "num_channels", 3, kMostWidth);
  const std::string name = class_of(in);
  input.classes = name.ends_with("ForImageClassification") ? read_labels(in) : 0;
  if (!name.empty() && input.classes == 0 && !name.ends_with("Model"))
    in.not_modelled("the head of class '" + name + "'");
  WindowTransformer t;
  if (in.has({"depths"})) t.depths = in.amounts("depths");
  if (in.has({"num_heads"})) t.heads = in.amounts("num_heads");
  t.width = bounded_count(in, "embed_dim", t.width, kMostWidth);
  t.patch = bounded_count(in, "patch_size", t.patch, kMostWindow);
  t.window = bounded_count(in, "window_size", t.window, kMostWindow);
  t.mlp_ratio = fraction_or(in, "mlp_ratio", t.mlp_ratio);
  t.qkv_bias = in.flag({"qkv_bias"}, true);
  t.absolute_positions = in.flag({"use_absolute_embeddings"}, false);
  constexpr std::size_t most_stages = 8;  // the width doubles with each
  bool good = t.depths.size() == t.heads.size() && t.depths.size() <= most_stages;
  for (const std::int64_t heads : t.heads) good = good && heads >= 1;
  if (!good) {
    in.wrong("depths", "'depths' and 'num_heads' do not fit", "one depth and one number of heads a stage");
    return;
  }
  add_network(out, input, t);
}

struct SizeRow {
  std::string_view name;
  std::int64_t width;
  std::array<std::int64_t, 4> depths;
  std::int64_t heads;  // of the first stage; doubles with each
};
constexpr SizeRow kSizes[] = {{"tiny", 96, {2, 2, 6, 2}, 3},
                              {"small", 96, {2, 2, 18, 2}, 3},
                              {"base", 128, {2, 2, 18, 2}, 4},
                              {"large", 192, {2, 2, 18, 2}, 6}};

/// `swin_base_patch4_window7_224`.
bool read_name(Fields& in, ImageInput& input, WindowTransformer& t) {
  const std::vector<std::string> words = input.words;
  if (words.size() != 5 || words[2] != "patch4") return false;
  t.window = number_at_end(words[3]);
  const std::int64_t side = number_at_end(words[4]);
  if (t.window < 1 || t.window > kMostWindow || side < 1) return false;
  if (words[3] != "window" + std::to_string(t.window) || words[4] != std::to_string(side)) return false;
  input = read_image_input(in, side);
  for (const SizeRow& row : kSizes) {
    if (words[1] != row.name) continue;
    t.width = row.width;
    t.depths.assign(row.depths.begin(), row.depths.end());
    t.heads = {row.heads, 2 * row.heads, 4 * row.heads, 8 * row.heads};
    return true;
  }
  return false;
}

}  // namespace

void read_swin(Fields& in, Network& out) {
  if (!in.has({"architecture"})) {
    read_config(in, out);
    return;
  }
  ImageInput input = read_image_input(in, 224);
  WindowTransformer t;
  if (read_name(in, input, t)) {
    add_network(out, input, t);
  } else {
    unknown_variant(in, input.name);
  }
}

}  // namespace gpuplan
