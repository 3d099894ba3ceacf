// MiniCPM-V: SigLIP and a resampler, whose learned queries take the tokens out of each image slice.
// Modules: MiniCPM-V 2.6, modeling_navit_siglip.py and resampler.py.

#include "beside.hpp"

#include <algorithm>
#include <utility>

namespace gpuplan {
namespace {

/// One attention of `queries` learned vectors over the tower's positions, normed on all sides, and a square matrix.
void add_resampler(const TowerShape& tower, const ImageGrid& image, std::int64_t queries, std::int64_t width,
                   Network& out) {
  constexpr std::int64_t head_dim = 128;
  const double slice = image.patches;
  PartBuilder part = begin_projector("resampler", image);
  part.table("queries", queries, width, TensorRole::position);
  part.linear("kv", width, tower.hidden, {.bias = false, .uses = slice});
  part.linear("attention.q", width, width, {.role = TensorRole::attention});
  part.linear("attention.kv", width, width, {.count = 2, .role = TensorRole::attention, .uses = slice});
  part.linear("attention.output", width, width, {.role = TensorRole::attention});
  part.attend(std::max<std::int64_t>(1, width / head_dim), head_dim, image.tokens, slice);
  part.norm("norm", width, 3);
  part.linear("output", width, width, {.bias = false});
  add_beside(out, std::move(part));
}

}  // namespace

/// Slices have about `image_size` squared pixels, whatever their shape.
void beside_minicpmv(Fields& in, const Architecture& text, Network& out) {
  auto vision = vision_config_of(in);
  if (!vision) return;
  TowerShape s;
  s.hidden = vision->count({"hidden_size"});
  s.intermediate = vision->count({"intermediate_size"});
  s.layers = vision->count({"num_hidden_layers"});
  s.heads = vision->count({"num_attention_heads"});
  s.patch = vision->count({"patch_size"});
  s.head_dim = head_dim_of(*vision, s.hidden, s.heads, "num_attention_heads");
  if (in.flag({"drop_vision_last_layer"}, false)) s.layers = std::max<std::int64_t>(1, s.layers - 1);
  const std::int64_t largest = std::max<std::int64_t>(1, vision->count({"image_size"}) / s.patch);
  ImageGrid image = native_grid(in.count_or({"image_size"}, 448), s.patch, 1);
  const std::int64_t queries = in.count_or({"query_num"}, 64);
  image.tokens = static_cast<double>(queries);
  PartBuilder tower = begin_tower("SigLIP vision tower", s, image, image.patches, true);
  tower.table("position", bounded_product({largest, largest}), s.hidden, TensorRole::position);
  add_tower_layers(tower, s.layers, s, {}, image.patches);
  tower.norm("final_norm", s.hidden);
  add_beside(out, std::move(tower));
  add_resampler(s, image, queries, text.hidden, out);
}

}  // namespace gpuplan
