/// Transformers over the patches of an image. Shapes: timm's `vision_transformer.py` and `deit.py`; transformers'
/// ViTConfig, DeiTConfig and Dinov2Config.

#include "../encoders/encoder_blocks.hpp"
#include "vision.hpp"

#include <string>

namespace gpuplan {
namespace {

constexpr std::int64_t kSide = 224;
constexpr std::int64_t kMostWidth = 1000000;
constexpr std::int64_t kMostPatch = 1000;

struct PatchTransformer {
  std::int64_t layers = 12;
  std::int64_t width = 768;
  std::int64_t heads = 12;
  std::int64_t mlp = 3072;
  std::int64_t patch = 16;
  Grid image{kSide, kSide};
  std::int64_t channels = 3;
  std::int64_t class_tokens = 1;  // with a position of their own
  std::int64_t registers = 0;     // without one
  bool qkv_bias = true;
  bool mask_token = false;
  bool layer_scale = false;
  bool gated_mlp = false;
  bool pooler = false;
  std::int64_t classifiers = 0;
  std::int64_t classifier_inputs = 0;
  std::int64_t classes = 0;

  [[nodiscard]] Grid patches() const { return image.after({.size = patch, .stride = patch, .padding = 0}); }
};

void add_block(PartBuilder& part, const PatchTransformer& t) {
  part.norm("norm1", t.width);
  part.linear("attention.qkv", t.width, t.width, {.count = 3, .bias = t.qkv_bias, .role = TensorRole::attention});
  part.linear("attention.output", t.width, t.width, {.role = TensorRole::attention});
  part.norm("norm2", t.width);
  part.linear("mlp.up", t.gated_mlp ? 2 * t.mlp : t.mlp, t.width, {.role = TensorRole::mlp});
  part.linear("mlp.down", t.width, t.mlp, {.role = TensorRole::mlp});
  if (t.layer_scale) part.vector("layer_scale", TensorRole::norm, t.width, 2);
  part.attend(t.heads, std::max<std::int64_t>(1, t.width / t.heads), part.positions(), part.positions());
}

void add_transformer(Network& out, const std::string& title, const std::string& item, const PatchTransformer& t) {
  const Grid patches = t.patches();
  const double positions = patches.positions() + static_cast<double>(t.class_tokens + t.registers);
  PartBuilder part("vision_model", title, item, positions);
  part.conv("patch_embedding", t.width, t.channels, t.patch * t.patch, {.uses = patches.positions()});
  part.vector("class_token", TensorRole::position, t.width, t.class_tokens);
  part.vector("register_token", TensorRole::position, t.width, t.registers);
  if (t.mask_token) part.vector("mask_token", TensorRole::position, t.width);
  part.table("position_embedding", patches.height * patches.width + t.class_tokens, t.width, TensorRole::position);
  part.layers(t.layers, [&](PartBuilder& layer) { add_block(layer, t); });
  part.norm("norm", t.width);
  if (t.pooler) part.linear("pooler", t.width, t.width, {.uses = 1});
  if (t.classes > 0)
    part.linear("classifier", t.classes, t.classifier_inputs, {.count = t.classifiers, .bias = false, .uses = 1});
  if (t.classes > 0) part.vector("classifier_bias", TensorRole::bias, t.classes, t.classifiers);
  out.parts.push_back(part.take());
}

struct SizeRow {
  std::string_view name;
  std::int64_t width;
  std::int64_t layers;
  std::int64_t heads;
  std::int64_t mlp;
};
constexpr SizeRow kSizes[] = {
    {"tiny", 192, 12, 3, 768},     {"small", 384, 12, 6, 1536},  {"base", 768, 12, 12, 3072},
    {"large", 1024, 24, 16, 4096}, {"huge", 1280, 32, 16, 5120}, {"giant", 1408, 40, 16, 6144},
};

/// `vit_base_patch16_224`, `deit_base_distilled_patch16_224`; false when the words say more or something else.
bool read_name(Fields& in, ImageInput& input, PatchTransformer& t) {
  std::vector<std::string> words = input.words;
  if (words.size() == 5 && words[4] == "in21k") words.pop_back();
  const bool distilled = words.size() == 5 && words[0] == "deit" && words[2] == "distilled";
  if (distilled) words.erase(words.begin() + 2);
  if (words.size() != 4 || words[2] != "patch" + std::to_string(number_at_end(words[2]))) return false;
  const std::int64_t side = number_at_end(words[3]);
  t.patch = number_at_end(words[2]);
  if (side < 1 || t.patch < 1 || t.patch > kMostPatch || words[3] != std::to_string(side)) return false;
  input = read_image_input(in, side);
  t.class_tokens = distilled ? 2 : 1;
  t.classifiers = t.class_tokens;  // one of each token
  for (const SizeRow& row : kSizes) {
    if (words[1] != row.name) continue;
    t.width = row.width;
    t.layers = row.layers;
    t.heads = row.heads;
    t.mlp = row.mlp;
    return true;
  }
  return false;
}

void read_named(Fields& in, Network& out) {
  ImageInput input = read_image_input(in, kSide);
  PatchTransformer t;
  if (!read_name(in, input, t)) {
    unknown_variant(in, input.name);
    return;
  }
  t.image = input.size;
  t.channels = input.channels;
  t.classes = input.classes;
  t.classifier_inputs = t.width;
  add_transformer(out, input.title(), input.item(), t);
}

PatchTransformer read_shape(Fields& in, std::int64_t side, std::int64_t patch) {
  PatchTransformer t;
  t.width = bounded_count(in, "hidden_size", t.width, kMostWidth);
  t.layers = in.count_or({"num_hidden_layers"}, t.layers);
  t.heads = in.count_or({"num_attention_heads"}, t.heads);
  t.mlp = in.count_or({"intermediate_size"}, t.mlp);
  t.patch = bounded_count(in, "patch_size", patch, kMostPatch);
  t.image = read_image_size(in, side);
  t.channels = bounded_count(in, "num_channels", t.channels, kMostWidth);
  t.qkv_bias = in.flag({"qkv_bias"}, true);
  t.classifier_inputs = t.width;
  return t;
}

/// What the class puts on top: a classifier, a pooled vector, or nothing that is read.
void read_top(Fields& in, PatchTransformer& t, bool has_pooler) {
  const std::string name = class_of(in);
  if (name.ends_with("ForImageClassification") || name.ends_with("ForImageClassificationWithTeacher")) {
    t.classes = read_labels(in);
    t.classifiers = name.ends_with("Teacher") ? 2 : 1;
    return;
  }
  t.pooler = has_pooler && (name.empty() || name.ends_with("Model"));
  if (!name.empty() && !name.ends_with("Model")) in.not_modelled("the head of class '" + name + "'");
}

void add_configured(Network& out, const PatchTransformer& t) {
  ImageInput input;
  input.size = t.image;
  const std::string title =
      "vision transformer: " + std::to_string(t.layers) + " layers, width " + std::to_string(t.width);
  add_transformer(out, title, input.item(), t);
}

}  // namespace

void read_vit(Fields& in, Network& out) {
  if (in.has({"architecture"})) {
    read_named(in, out);
    return;
  }
  PatchTransformer t = read_shape(in, kSide, 16);
  read_top(in, t, true);
  add_configured(out, t);
}

/// A second token learns from a teacher.
void read_deit(Fields& in, Network& out) {
  if (in.has({"architecture"})) {
    read_named(in, out);
    return;
  }
  PatchTransformer t = read_shape(in, kSide, 16);
  t.class_tokens = 2;
  read_top(in, t, true);
  add_configured(out, t);
}

void read_dinov2(Fields& in, Network& out) {
  PatchTransformer t = read_shape(in, kSide, 16);
  t.layer_scale = true;
  t.mask_token = true;
  t.registers = in.text({"model_type"}) == "dinov2_with_registers" ? in.amount_or({"num_register_tokens"}, 4) : 0;
  t.gated_mlp = in.flag({"use_swiglu_ffn"}, false);
  t.mlp = bounded_count(in, "mlp_ratio", 4, kMostPatch) * t.width;
  constexpr std::int64_t multiple = 8;
  if (t.gated_mlp) t.mlp = (t.mlp * 2 / 3 + multiple - 1) / multiple * multiple;
  t.classifier_inputs = 2 * t.width;  // the class token and the mean of the patches
  read_top(in, t, false);
  add_configured(out, t);
}

}  // namespace gpuplan
