// The towers of Llama 4 and of Llama 3.2 Vision. Modules: transformers, models/{llama4,mllama}.

#include "beside.hpp"

#include <algorithm>
#include <utility>

namespace gpuplan {
namespace {

bool patch_fits(Fields& vision, std::int64_t patch, std::int64_t image) {
  if (patch <= image) return true;
  vision.wrong("patch_size", "patches of " + std::to_string(patch) + " in images of " + std::to_string(image),
               "a patch no larger than the image");
  return false;
}

void add_class_and_positions(PartBuilder& part, const TowerShape& s, std::int64_t image) {
  const std::int64_t side = image / s.patch;
  part.vector("class_token", TensorRole::position, s.hidden);
  part.table("position", bounded_product({side, side}) + 1, s.hidden, TensorRole::position);
}

/// Sizes of tiles, of which an image has up to `max_num_tiles`.
TowerShape read_mllama_tower(Fields& vision) {
  TowerShape s;
  s.hidden = vision.count_or({"hidden_size"}, 1280);
  s.intermediate = vision.count_or({"intermediate_size"}, 5120);
  s.layers = vision.count_or({"num_hidden_layers"}, 32);
  s.channels = vision.count_or({"num_channels", "in_channels"}, 3);
  s.patch = vision.count_or({"patch_size"}, 14);
  read_tower_heads(vision, s, {"attention_heads", "num_attention_heads"}, 16, s.hidden);
  return s;
}

/// Tables for each way to lay out tiles, with a gate each.
void add_tile_positions(PartBuilder& part, std::int64_t layouts, std::int64_t tiles, std::int64_t positions,
                        std::int64_t hidden) {
  part.table("tile_position", bounded_product({layouts, tiles, positions}), hidden, TensorRole::position);
  part.table("tile_embedding.before", bounded_product({layouts, tiles}), hidden, TensorRole::position);
  part.table("tile_embedding.after", bounded_product({layouts, tiles}), hidden, TensorRole::position);
  part.vector("tile_gates", TensorRole::state, 3);
}

}  // namespace

void beside_llama4(Fields& in, const Architecture& text, Network& out) {
  auto vision = vision_config_of(in);
  if (!vision) return;
  TowerShape s;
  s.hidden = vision->count({"hidden_size"});
  s.intermediate = vision->count_or({"intermediate_size"}, 5632);
  s.layers = vision->count_or({"num_hidden_layers"}, 34);
  s.channels = vision->count_or({"num_channels"}, 3);
  s.patch = vision->count_or({"patch_size"}, 14);
  read_tower_heads(*vision, s, {"num_attention_heads"}, 16, s.hidden);
  const std::int64_t side = vision->count_or({"image_size"}, 448);
  if (!patch_fits(*vision, s.patch, side)) return;
  const std::int64_t merge = shuffle_factor(*vision, "pixel_shuffle_ratio", 0.5);
  const ImageGrid image = native_grid(side, s.patch, merge);
  const double positions = image.patches + 1;
  PartBuilder tower = begin_tower("Llama 4 vision tower", s, image, positions, false);
  add_class_and_positions(tower, s, side);
  tower.norm("outer_norm", s.hidden, 2);  // before and behind the layers
  add_tower_layers(tower, s.layers, s, {}, positions);
  add_beside(out, std::move(tower));

  // Positions shuffled into channels are as wide as the MLP, because both are `hidden` / ratio squared.
  const std::int64_t middle = vision->count_or({"projector_input_dim"}, 4096);
  const std::int64_t outputs = vision->count_or({"projector_output_dim"}, 4096);
  PartBuilder projector = begin_projector("pixel shuffle and three linear layers", image);
  projector.linear("adapter_1", middle, s.intermediate, {.bias = false});
  projector.linear("adapter_2", outputs, outputs, {.bias = false});
  projector.linear("linear", text.hidden, vision->count_or({"vision_output_dim"}, outputs), {.bias = false});
  add_beside(out, std::move(projector));
}

/// Layers over all tiles, then gated layers; the projector gets the outputs of both and of some inner layers.
void beside_mllama(Fields& in, const Architecture& text, Network& out) {
  auto vision = vision_config_of(in);
  if (!vision) return;
  const TowerShape s = read_mllama_tower(*vision);
  const std::int64_t side = vision->count_or({"image_size"}, 448);
  if (!patch_fits(*vision, s.patch, side)) return;
  const std::int64_t tiles = vision->count_or({"max_num_tiles"}, 4);
  // The same as a list: [1, 1], [1, 2], …; one more row stands for padding.
  const Node* layouts = vision->find({"supported_aspect_ratios"});
  const std::int64_t rows = layouts && !layouts->items.empty() ? static_cast<std::int64_t>(layouts->items.size()) : 8;
  ImageGrid image = native_grid(side, s.patch, 1);
  const double a_tile = image.patches + 1;
  image.patches *= static_cast<double>(tiles);
  image.tokens = a_tile * static_cast<double>(tiles);
  image.pixels = side;
  const TowerStyle style{.qkv_bias = false, .output_bias = false};
  PartBuilder tower = begin_tower("Llama 3.2 vision tower", s, image, image.tokens, false);
  tower.part().item = std::to_string(tiles) + " tiles of " + std::to_string(side) + " x " + std::to_string(side);
  add_class_and_positions(tower, s, side);
  const std::int64_t grid = side / s.patch;
  add_tile_positions(tower, rows + 1, tiles, bounded_product({grid, grid}) + 1, s.hidden);
  tower.norm("outer_norm", s.hidden, 2);  // before and behind the layers
  add_tower_layers(tower, s.layers, s, style, image.tokens);
  const std::int64_t gated = vision->count_or({"num_global_layers"}, 8);
  add_tower_layers(tower, gated, s, style, image.tokens);
  tower.layers(gated, [](PartBuilder& layer) { layer.vector("gate", TensorRole::state, 1, 2); });
  const std::string item = tower.part().item;
  add_beside(out, std::move(tower));
  PartBuilder projector = begin_projector("linear layer", image);
  projector.part().item = item;
  projector.linear("linear", text.hidden, vision->count_or({"vision_output_dim"}, 7680));
  add_beside(out, std::move(projector));
}

}  // namespace gpuplan
