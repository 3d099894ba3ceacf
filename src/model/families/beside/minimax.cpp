// MiniMax-M3: a tower without learned positions, whose patches are projected one by one and then merged into tokens.
// Tensors: those of the published checkpoint.

#include "beside.hpp"

#include <utility>

namespace gpuplan {
namespace {

/// Two layers on each patch, and two on what the patches of a token are side by side.
void add_merging_projector(Fields& in, const TowerShape& tower, const ImageGrid& image, std::int64_t merge,
                           std::int64_t width, Network& out) {
  const std::int64_t inner = in.count_or({"projector_hidden_size"}, width);
  const bool bias = in.flag({"multimodal_projector_bias"}, true);
  PartBuilder part = begin_projector("two linear layers on patches and two on tokens", image);
  part.linear("patch.linear_1", inner, tower.hidden, {.bias = bias, .uses = image.patches});
  part.linear("patch.linear_2", width, inner, {.bias = bias, .uses = image.patches});
  part.linear("merge.linear_1", inner, bounded_product({width, merge, merge}), {.bias = bias});
  part.linear("merge.linear_2", width, inner, {.bias = bias});
  add_beside(out, std::move(part));
}

}  // namespace

void beside_minimax_m3(Fields& in, const Architecture& text, Network& out) {
  auto vision = vision_config_of(in);
  if (!vision) return;
  TowerShape s;
  s.hidden = vision->count({"hidden_size"});
  s.intermediate = vision->count({"intermediate_size"});
  s.layers = vision->count({"num_hidden_layers"});
  s.channels = vision->count_or({"num_channels"}, 3);
  s.patch = vision->count({"patch_size"});
  read_tower_heads(*vision, s, {"num_attention_heads"}, 16, s.hidden);
  Fields merging = nested(*vision, {"img_token_compression_config"});
  const std::int64_t merge = merging.count_or({"spatial_merge_size"}, 2);
  s.frames = merging.count_or({"temporal_patch_size"}, 2);
  const ImageGrid image = stated_grid(s.patch, merge);
  PartBuilder tower = begin_tower("MiniMax vision tower", s, image, image.patches, false);
  tower.norm("first_norm", s.hidden);
  add_tower_layers(tower, s.layers, s, {}, image.patches);
  add_beside(out, std::move(tower));
  add_merging_projector(in, s, image, merge, text.hidden, out);
}

}  // namespace gpuplan
