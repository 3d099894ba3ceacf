// Towers for images and videos of any size, whose patches are merged 2 x 2: Qwen-VL and GLM-V.
// Modules: transformers, models/{qwen2_vl,qwen2_5_vl,qwen3_vl,glm4v}.

#include "beside.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

/// Keys by the names that these towers share; `width` is that of the layers.
struct MergingTower {
  TowerShape shape;
  std::int64_t merge = 2;
  ImageGrid image;
};

MergingTower read_merging_tower(Fields& vision, std::int64_t width, std::int64_t patch, std::int64_t depth,
                                std::int64_t heads = 16) {
  MergingTower t;
  t.shape.hidden = width;
  t.shape.layers = vision.count_or({"depth"}, depth);
  t.shape.channels = vision.count_or({"in_channels", "in_chans"}, 3);
  t.shape.frames = vision.count_or({"temporal_patch_size"}, 2);
  t.shape.patch = vision.count_or({"patch_size"}, patch);
  t.merge = vision.count_or({"spatial_merge_size"}, 2);
  read_tower_heads(vision, t.shape, {"num_heads"}, heads, width);
  t.image = stated_grid(t.shape.patch, t.merge);
  return t;
}

/// How wide the merged patches are.
std::int64_t merged_width(const MergingTower& t) { return bounded_product({t.shape.hidden, t.merge, t.merge}); }

/// Two matrices over merged patches.
void add_merger(PartBuilder& part, const MergingTower& t, std::int64_t outputs) {
  part.linear("linear_1", merged_width(t), merged_width(t));
  part.linear("linear_2", outputs, merged_width(t));
}

/// Windows of `window_size` pixels in all layers but those listed.
void add_windowed_layers(PartBuilder& part, Fields& vision, const MergingTower& t, const TowerStyle& style) {
  constexpr std::int64_t default_window = 112;
  std::vector<std::int64_t> full = vision.amounts("fullatt_block_indexes");
  if (!vision.states("fullatt_block_indexes")) full = {7, 15, 23, 31};
  const std::int64_t window =
      std::max<std::int64_t>(1, vision.count_or({"window_size"}, default_window) / t.shape.patch);
  const double keys = std::min(static_cast<double>(window) * static_cast<double>(window), t.image.patches);
  const auto beyond = [&](std::int64_t layer) { return layer >= t.shape.layers; };
  full.erase(std::remove_if(full.begin(), full.end(), beyond), full.end());
  const auto whole = std::min(static_cast<std::int64_t>(full.size()), t.shape.layers);
  add_tower_layers(part, whole, t.shape, style, t.image.patches);
  add_tower_layers(part, t.shape.layers - whole, t.shape, style, keys);
}

}  // namespace

void beside_qwen2_vl(Fields& in, const Architecture& text, Network& out) {
  auto vision = vision_config_of(in);
  if (!vision) return;
  MergingTower t = read_merging_tower(*vision, vision->count_or({"embed_dim"}, 1280), 14, 32);
  t.shape.intermediate = bounded_product({t.shape.hidden, vision->count_or({"mlp_ratio"}, 4)});
  PartBuilder tower = begin_tower("Qwen2-VL vision tower", t.shape, t.image, t.image.patches, false);
  add_tower_layers(tower, t.shape.layers, t.shape, {}, t.image.patches);
  add_beside(out, std::move(tower));
  PartBuilder merger = begin_projector("patch merger", t.image);
  merger.norm("norm", t.shape.hidden);
  add_merger(merger, t, vision->count_or({"hidden_size"}, text.hidden));
  add_beside(out, std::move(merger));
}

void beside_qwen2_5_vl(Fields& in, const Architecture& text, Network& out) {
  auto vision = vision_config_of(in);
  if (!vision) return;
  MergingTower t = read_merging_tower(*vision, vision->count({"hidden_size"}), 14, 32);
  t.shape.intermediate = vision->count_or({"intermediate_size"}, 3420);
  PartBuilder tower = begin_tower("Qwen2.5-VL vision tower", t.shape, t.image, t.image.patches, false);
  add_windowed_layers(tower, *vision, t, {.rms = true, .gated = true});
  add_beside(out, std::move(tower));
  PartBuilder merger = begin_projector("patch merger", t.image);
  merger.norm("norm", t.shape.hidden, 1, false);
  add_merger(merger, t, vision->count_or({"out_hidden_size"}, text.hidden));
  add_beside(out, std::move(merger));
}

/// Learned positions; outputs of some inner layers go to the first layers of the text model, through mergers of their own.
void beside_qwen3_vl(Fields& in, const Architecture& text, Network& out) {
  auto vision = vision_config_of(in);
  if (!vision) return;
  MergingTower t = read_merging_tower(*vision, vision->count_or({"hidden_size"}, 1152), 16, 27);
  t.shape.intermediate = vision->count_or({"intermediate_size"}, 4304);
  PartBuilder tower = begin_tower("Qwen3-VL vision tower", t.shape, t.image, t.image.patches, true);
  tower.table("position", vision->count_or({"num_position_embeddings"}, 2304), t.shape.hidden, TensorRole::position);
  add_tower_layers(tower, t.shape.layers, t.shape, {}, t.image.patches);
  add_beside(out, std::move(tower));
  const std::int64_t outputs = vision->count_or({"out_hidden_size"}, text.hidden);
  PartBuilder merger = begin_projector("patch mergers", t.image);
  merger.norm("norm", t.shape.hidden);
  add_merger(merger, t, outputs);
  const bool has_deepstack = in.text({"model_type"}).starts_with("qwen3_vl");
  std::int64_t inner = static_cast<std::int64_t>(vision->amounts("deepstack_visual_indexes").size());
  if (has_deepstack && !vision->states("deepstack_visual_indexes")) inner = 3;  // layers 8, 16 and 24
  merger.layers(
      inner,
      [&](PartBuilder& layer) {
        layer.norm("norm", merged_width(t));
        add_merger(layer, t, outputs);
      },
      "inner");
  add_beside(out, std::move(merger));
}

/// The layers' MLPs are as wide as the text model, and so is the merger, which is a convolution and a gated MLP.
void beside_glm4v(Fields& in, const Architecture& text, Network& out) {
  auto vision = vision_config_of(in);
  if (!vision) return;
  MergingTower t = read_merging_tower(*vision, vision->count_or({"hidden_size"}, 1536), 14, 24, 12);
  const std::int64_t outputs = vision->count_or({"out_hidden_size"}, text.hidden);
  t.shape.intermediate = outputs;
  const std::int64_t native = std::max<std::int64_t>(1, vision->count_or({"image_size"}, 336) / t.shape.patch);
  const TowerStyle style{.rms = true,
                         .qkv_bias = vision->flag({"attention_bias"}, false),
                         .output_bias = false,
                         .mlp_bias = false,
                         .gated = true};
  PartBuilder tower = begin_tower("GLM-V vision tower", t.shape, t.image, t.image.patches, true);
  tower.table("position", bounded_product({native, native}), t.shape.hidden, TensorRole::position);
  tower.norm("first_norm", t.shape.hidden, 1, false);
  add_tower_layers(tower, t.shape.layers, t.shape, style, t.image.patches);
  tower.norm("final_norm", t.shape.hidden, 1, false);
  add_beside(out, std::move(tower));
  const std::int64_t middle = vision->count_or({"intermediate_size"}, 13696);
  PartBuilder merger = begin_projector("convolution and gated MLP", t.image);
  merger.conv("downsample", outputs, t.shape.hidden, bounded_product({t.merge, t.merge}));
  merger.linear("linear", outputs, outputs, {.bias = false});
  merger.norm("norm", outputs);
  merger.linear("mlp.up", middle, outputs, {.count = 2, .bias = false, .role = TensorRole::mlp});
  merger.linear("mlp.down", outputs, middle, {.bias = false, .role = TensorRole::mlp});
  add_beside(out, std::move(merger));
}

}  // namespace gpuplan
