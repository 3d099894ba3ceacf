// Towers that a wrapper chooses by `vision_config.model_type`. Modules: transformers, models/{clip,siglip,siglip2,pixtral,idefics3}.

#include "../encoders/vision_transformer.hpp"
#include "beside.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpuplan {
namespace {

/// Sizes that a class takes when its config leaves them out.
struct TowerDefaults {
  std::int64_t hidden, intermediate, layers, heads, image, patch;
};

struct SizedTower {
  TowerShape shape;
  std::int64_t image = 1;
};

SizedTower read_sized_tower(Fields& vision, const TowerDefaults& d) {
  SizedTower t;
  t.shape.hidden = vision.count_or({"hidden_size"}, d.hidden);
  t.shape.intermediate = vision.count_or({"intermediate_size"}, d.intermediate);
  t.shape.layers = vision.count_or({"num_hidden_layers"}, d.layers);
  t.shape.channels = vision.count_or({"num_channels"}, t.shape.channels);
  t.shape.patch = side_or(vision, "patch_size", d.patch);
  t.image = side_or(vision, "image_size", d.image);
  const std::int64_t head_dim = vision.count_or({"head_dim"}, 0);
  if (head_dim == 0) {
    read_tower_heads(vision, t.shape, {"num_attention_heads"}, d.heads, t.shape.hidden);
  } else {
    t.shape.heads = vision.count_or({"num_attention_heads"}, d.heads);
    t.shape.head_dim = head_dim;
  }
  return t;
}

/// Of CLIP and SigLIP, whose classes have 12 heads by default.
VisionShape read_plain_shape(Fields& vision, std::int64_t default_patch) {
  const VisionShape defaults;
  if (!vision.has({"num_attention_heads"}) && vision.count_or({"hidden_size"}, defaults.hidden) % defaults.heads != 0) {
    vision.missing("num_attention_heads");
  }
  return read_vision_shape(vision, default_patch);
}

std::int64_t layers_run(const TowerUse& use, std::int64_t layers) {
  const std::int64_t run = use.feature_layer < 0 ? layers + 1 + use.feature_layer : use.feature_layer;
  return std::clamp<std::int64_t>(run, 1, layers);
}

TowerOutput add_clip(Fields vision, const TowerUse& use, Network& out) {
  constexpr std::int64_t default_patch = 32;
  const VisionShape s = read_plain_shape(vision, default_patch);
  add_beside(out, build_clip_vision_tower(vision, {.layers_run = layers_run(use, s.layers)}));
  return {s.hidden, native_grid(s.image, s.patch, use.merge)};
}

TowerOutput add_siglip(Fields vision, const TowerUse& use, Network& out) {
  constexpr std::int64_t default_patch = 16;
  const VisionShape s = read_plain_shape(vision, default_patch);
  ImageGrid image = native_grid(s.image, s.patch, use.merge);
  // SigLIP 2 for images of any size: its positions are so many and stretched to the image.
  if (const std::int64_t positions = vision.amount_or({"num_patches"}, 0); positions > 0) {
    const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(positions)));
    image = native_grid(bounded_product({side, s.patch}), s.patch, use.merge);
  }
  PartBuilder part = build_siglip_vision_tower(vision, {.layers_run = layers_run(use, s.layers)});
  part.part().item = image.item();
  add_beside(out, std::move(part));
  return {s.hidden, image};
}

/// SigLIP without a head, for tiles.
TowerOutput add_idefics(Fields vision, const TowerUse& use, Network& out, const TowerDefaults& defaults) {
  const SizedTower t = read_sized_tower(vision, defaults);
  const ImageGrid image = native_grid(t.image, t.shape.patch, use.merge);
  PartBuilder part = begin_tower("SigLIP vision tower", t.shape, image, image.patches, true);
  const std::int64_t side = std::max<std::int64_t>(1, t.image / t.shape.patch);
  part.table("position", bounded_product({side, side}), t.shape.hidden, TensorRole::position);
  add_tower_layers(part, t.shape.layers, t.shape, {}, image.patches);
  part.norm("final_norm", t.shape.hidden);
  add_beside(out, std::move(part));
  return {t.shape.hidden, image};
}

TowerOutput add_idefics2(Fields vision, const TowerUse& use, Network& out) {
  return add_idefics(vision, use, out, {768, 3072, 12, 12, 224, 32});
}

TowerOutput add_idefics3(Fields vision, const TowerUse& use, Network& out) {
  return add_idefics(vision, use, out, {1152, 3072, 12, 16, 224, 32});
}

/// Images of any size, rotary positions, gated MLPs without biases; no norm at the end.
TowerOutput add_pixtral(Fields vision, const TowerUse& use, Network& out) {
  const SizedTower t = read_sized_tower(vision, {1024, 4096, 24, 16, 1024, 16});
  const ImageGrid image = stated_grid(t.shape.patch, use.merge);
  PartBuilder part = begin_tower("Pixtral vision tower", t.shape, image, image.patches, false);
  part.norm("first_norm", t.shape.hidden, 1, false);
  add_tower_layers(part, t.shape.layers, t.shape,
                   {.rms = true, .qkv_bias = false, .output_bias = false, .mlp_bias = false, .gated = true},
                   image.patches);
  add_beside(out, std::move(part));
  return {t.shape.hidden, image};
}

struct TowerRow {
  std::string_view types;
  TowerOutput (*add)(Fields vision, const TowerUse& use, Network& out);
};
constexpr TowerRow kTowers[] = {
    {"clip_vision_model", add_clip},
    {"siglip_vision_model siglip siglip2_vision_model", add_siglip},
    {"pixtral", add_pixtral},
    {"idefics2 idefics2_vision", add_idefics2},
    {"idefics3 idefics3_vision smolvlm smolvlm_vision", add_idefics3},
};

}  // namespace

std::optional<TowerOutput> add_tower(Fields& in, const Fields& vision, const TowerUse& use, std::string_view otherwise,
                                     Network& out) {
  const std::string said = vision.text({"model_type"});
  for (const TowerRow& row : kTowers) {
    if (has_word(row.types, said.empty() ? otherwise : std::string_view(said))) return row.add(vision, use, out);
  }
  in.not_modelled("vision tower of type '" + said + "' and projector");
  return std::nullopt;
}

}  // namespace gpuplan
