// MoonViT with a patch merger: Kimi-VL, Kimi-K2.5 and Kimi-K3. Tensor lists: the models' own code and their checkpoints' indices.

#include "beside.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

/// The first names are those of Kimi-VL, the second those of its successors.
TowerShape read_moon_vit(Fields& vision) {
  TowerShape s;
  s.hidden = vision.count({"hidden_size", "vt_hidden_size"});
  s.intermediate = vision.count({"intermediate_size", "vt_intermediate_size"});
  s.layers = vision.count({"num_hidden_layers", "vt_num_hidden_layers"});
  s.heads = vision.count({"num_attention_heads", "vt_num_attention_heads"});
  s.patch = vision.count_or({"patch_size"}, 14);
  const std::int64_t width = vision.count_or({"qkv_hidden_size"}, s.hidden);
  s.head_dim = head_dim_of(vision, width, s.heads, "num_attention_heads");
  return s;
}

std::int64_t read_merge(Fields& vision) {
  const std::vector<std::int64_t> kernel = vision.amounts("merge_kernel_size");
  return kernel.empty() ? 2 : std::max<std::int64_t>(1, kernel.front());
}

}  // namespace

void beside_kimi_vl(Fields& in, const Architecture& text, Network& out) {
  auto vision = vision_config_of(in);
  if (!vision) return;
  const TowerShape s = read_moon_vit(*vision);
  const std::int64_t merge = read_merge(*vision);
  const ImageGrid image = stated_grid(s.patch, merge);
  TowerStyle style{.rms = vision->text({"norm_type"}) == "rmsnorm"};
  style.qkv_bias = vision->flag({"attn_bias"}, true);
  style.output_bias = style.qkv_bias;
  style.mlp_bias = vision->flag({"linear_bias"}, true);
  PartBuilder tower =
      begin_tower("MoonViT vision tower", s, image, image.patches, vision->flag({"patch_embed_proj_bias"}, true));
  const std::int64_t rows =
      bounded_product({vision->count_or({"init_pos_emb_height"}, 64), vision->count_or({"init_pos_emb_width"}, 64)});
  tower.table("position", rows, s.hidden, TensorRole::position);
  add_tower_layers(tower, s.layers, s, style, image.patches);
  tower.norm("final_norm", s.hidden, 1, !style.rms);
  add_beside(out, std::move(tower));

  const bool second_kind = vision->text({"mm_projector_type"}) == "patchmergerv2";  // its norm stands behind
  const std::int64_t width = bounded_product({s.hidden, merge, merge});
  PartBuilder projector = begin_projector("patch merger", image);
  projector.norm("norm", second_kind ? text.hidden : s.hidden, 1, !second_kind);
  projector.linear("linear_1", width, width, {.bias = !second_kind});
  projector.linear("linear_2", text.hidden, width, {.bias = !second_kind});
  add_beside(out, std::move(projector));
}

}  // namespace gpuplan
