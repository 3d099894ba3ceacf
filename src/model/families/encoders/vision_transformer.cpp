#include "vision_transformer.hpp"

#include "encoder_blocks.hpp"

#include <algorithm>

namespace gpuplan {
namespace {

constexpr std::int64_t kClipPatch = 32;       // CLIPVisionConfig
constexpr std::int64_t kSiglipPatch = 16;     // SiglipVisionConfig
constexpr std::int64_t kSiglipPatches = 256;  // Siglip2VisionConfig

BlockShape block_of(const VisionShape& s) { return {s.hidden, s.heads, s.head_dim, s.intermediate}; }

double as_double(std::int64_t n) { return static_cast<double>(n); }

/// One position of the image's own asks all others; a layer and a norm follow.
void add_pooling_head(PartBuilder& part, const VisionShape& s) {
  const BlockShape block = block_of(s);
  part.vector("head.probe", TensorRole::position, s.hidden);
  part.linear("head.attention.q", s.hidden, s.hidden, {.role = TensorRole::attention, .uses = 1});
  part.linear("head.attention.kv", s.hidden, s.hidden, {.count = 2, .role = TensorRole::attention});
  part.linear("head.attention.output", s.hidden, s.hidden, {.role = TensorRole::attention, .uses = 1});
  part.attend(s.heads, s.head_dim, 1, part.positions());
  part.norm("head.norm", s.hidden);
  part.linear("head.mlp.up", block.intermediate, block.hidden, {.role = TensorRole::mlp, .uses = 1});
  part.linear("head.mlp.down", block.hidden, block.intermediate, {.role = TensorRole::mlp, .uses = 1});
}

/// Layers that are loaded and not run stand apart: no image goes through them.
void add_idle_layers(PartBuilder& part, const VisionShape& s, std::int64_t layers) {
  PartBuilder idle("", "", part.part().item, 0);
  idle.layers(layers, [&](PartBuilder& layer) {
    add_attention(layer, block_of(s));
    add_mlp(layer, block_of(s));
    layer.norm("norm", s.hidden, 2);
  });
  for (TensorGroup& tensor : idle.part().tensors) part.add(std::move(tensor));
}

}  // namespace

std::string image_item(std::int64_t height, std::int64_t width) {
  return "image of " + std::to_string(height) + " x " + std::to_string(width);
}

VisionShape read_vision_shape(Fields& in, std::int64_t default_patch, std::int64_t default_image) {
  VisionShape s;
  s.hidden = in.count_or({"hidden_size"}, s.hidden);
  s.intermediate = in.count_or({"intermediate_size"}, s.intermediate);
  s.layers = in.count_or({"num_hidden_layers"}, s.layers);
  s.heads = in.count_or({"num_attention_heads"}, s.heads);
  s.channels = in.count_or({"num_channels"}, s.channels);
  s.image = in.count_or({"image_size"}, default_image);
  s.patch = in.count_or({"patch_size"}, default_patch);
  s.head_dim = head_dim_of(in, s.hidden, s.heads, "num_attention_heads");
  if (s.image < s.patch) {
    in.wrong("patch_size", "patches of " + std::to_string(s.patch) + " in images of " + std::to_string(s.image),
             "a patch no larger than the image");
  }
  s.patches = s.image / s.patch * (s.image / s.patch);
  return s;
}

void add_vision_layers(PartBuilder& part, const VisionShape& shape, const VisionTowerOptions& o) {
  const std::int64_t loaded = o.layers > 0 ? std::min(o.layers, shape.layers) : shape.layers;
  const std::int64_t run = o.layers_run > 0 ? std::min(o.layers_run, loaded) : loaded;
  part.layers(run, [&](PartBuilder& layer) { add_encoder_layer(layer, block_of(shape), layer.positions()); });
  if (loaded > run) add_idle_layers(part, shape, loaded - run);
}

PartBuilder build_clip_vision_tower(Fields in, const VisionTowerOptions& o) {
  const VisionShape s = read_vision_shape(in, kClipPatch);
  PartBuilder part(o.name, shape_title("CLIP vision tower", s.layers, s.hidden), image_item(s.image, s.image),
                   as_double(s.patches + 1));
  part.vector("class_token", TensorRole::position, s.hidden);
  part.conv("patches", s.hidden, s.channels, bounded_product({s.patch, s.patch}),
            {.bias = false, .uses = as_double(s.patches)});
  part.table("position", s.patches + 1, s.hidden, TensorRole::position);
  part.norm("first_norm", s.hidden);
  add_vision_layers(part, s, o);
  if (o.final_norm) part.norm("final_norm", s.hidden);
  return part;
}

NetworkPart clip_vision_tower(Fields in, const VisionTowerOptions& o) { return build_clip_vision_tower(in, o).take(); }

PartBuilder build_siglip_vision_tower(Fields in, const VisionTowerOptions& o) {
  VisionShape s = read_vision_shape(in, kSiglipPatch);
  // Networks of any resolution have a table of so many patches, which is stretched to the image.
  const bool any_resolution = o.any_resolution || in.text({"model_type"}).starts_with("siglip2");
  const std::int64_t given = in.amount_or({"num_patches"}, any_resolution ? kSiglipPatches : 0);
  if (given > 0) s.patches = given;
  const std::string item = given > 0 ? "image of " + std::to_string(given) + " patches" : image_item(s.image, s.image);
  PartBuilder part(o.name, shape_title("SigLIP vision tower", s.layers, s.hidden), item, as_double(s.patches));
  part.conv("patches", s.hidden, s.channels, bounded_product({s.patch, s.patch}));
  part.table("position", s.patches, s.hidden, TensorRole::position);
  add_vision_layers(part, s, o);
  if (o.final_norm) part.norm("final_norm", s.hidden);
  if (o.head && in.flag({"vision_use_head"}, true)) add_pooling_head(part, s);
  return part;
}

NetworkPart siglip_vision_tower(Fields in, const VisionTowerOptions& o) {
  return build_siglip_vision_tower(in, o).take();
}

}  // namespace gpuplan
