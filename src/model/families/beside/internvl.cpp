// InternVL: InternViT, whose positions are shuffled into channels, and an MLP; the models' own code and transformers'.
// Modules: OpenGVLab InternVL, modeling_intern_vit.py and modeling_internvl_chat.py; transformers, models/internvl.

#include "beside.hpp"

#include <algorithm>
#include <utility>

namespace gpuplan {
namespace {

struct InternVit {
  TowerShape shape;
  TowerStyle style;
  std::int64_t image = 448;
  bool final_norm = false;
};

/// @param own_code  the models' own configuration class, whose defaults are those of the tower with 6 billion parameters
InternVit read_intern_vit(Fields& vision, bool own_code) {
  InternVit v;
  v.shape.hidden = vision.count_or({"hidden_size"}, own_code ? 3200 : 1024);
  v.shape.intermediate = vision.count_or({"intermediate_size"}, own_code ? 12800 : 4096);
  v.shape.layers = vision.count_or({"num_hidden_layers"}, own_code ? 48 : 24);
  v.shape.channels = vision.count_or({"num_channels"}, 3);
  v.shape.patch = side_or(vision, "patch_size", own_code ? 14 : 16);
  v.image = side_or(vision, "image_size", own_code ? 224 : 448);
  read_tower_heads(vision, v.shape, {"num_attention_heads"}, own_code ? 25 : 16, v.shape.hidden);
  const std::string norm = vision.text({"norm_type"});
  v.style.rms = norm.empty() ? own_code : norm == "rms_norm";
  v.style.qkv_bias = vision.flag({"qkv_bias", "attention_bias"}, false);
  const bool norms_of_heads = vision.flag({"qk_normalization", "use_qk_norm"}, own_code);
  v.style.qk_norm = norms_of_heads ? v.shape.hidden : 0;
  v.style.layer_scale = true;
  v.final_norm = !own_code && !vision.flag({"use_mean_pooling"}, true);
  return v;
}

void add_intern_vit(const InternVit& v, const ImageGrid& image, Network& out) {
  PartBuilder part = begin_tower("InternViT vision tower", v.shape, image, image.patches + 1, true);
  const std::int64_t side = std::max<std::int64_t>(1, v.image / v.shape.patch);
  part.vector("class_token", TensorRole::position, v.shape.hidden);
  part.table("position", bounded_product({side, side}) + 1, v.shape.hidden, TensorRole::position);
  add_tower_layers(part, v.shape.layers, v.shape, v.style, image.patches + 1);
  if (v.final_norm) part.norm("final_norm", v.shape.hidden, 1, !v.style.rms);
  add_beside(out, std::move(part));
}

void read_internvl(Fields& in, const Architecture& text, Network& out, bool own_code) {
  auto vision = vision_config_of(in);
  if (!vision) return;
  const InternVit v = read_intern_vit(*vision, own_code);
  if (v.shape.patch > v.image) {
    vision->wrong("patch_size",
                  "patches of " + std::to_string(v.shape.patch) + " in images of " + std::to_string(v.image),
                  "a patch no larger than the image");
    return;
  }
  const std::int64_t merge = shuffle_factor(in, "downsample_ratio", 0.5);
  const ImageGrid image = native_grid(v.image, v.shape.patch, merge);
  add_intern_vit(v, image, out);
  const std::int64_t width = bounded_product({v.shape.hidden, merge, merge});
  PartBuilder part = begin_projector("norm and two linear layers", image);
  part.norm("norm", width);
  part.linear("linear_1", text.hidden, width);
  part.linear("linear_2", text.hidden, text.hidden);
  add_beside(out, std::move(part));
}

}  // namespace

void beside_internvl(Fields& in, const Architecture& text, Network& out) { read_internvl(in, text, out, false); }

void beside_internvl_chat(Fields& in, const Architecture& text, Network& out) { read_internvl(in, text, out, true); }

}  // namespace gpuplan
