#pragma once
/// What vision-language and audio-language wrappers share: towers over patches, and what projects their outputs to text.
///
/// An item is one image of the tower's own size; of towers that take any size it is one of 1024 x 1024, rounded as the
/// implementation rounds it. The projector's positions are the tokens that the text model gets.

#include "../encoders/encoder_blocks.hpp"
#include "../family.hpp"
#include "../part_builder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuplan {

inline constexpr std::int64_t kStatedSide = 1024;  ///< of an image for towers that take any size

/// Patches along one side of an image, and tokens that the text model gets.
struct ImageGrid {
  std::int64_t pixels = kStatedSide;  ///< along one side, before rounding
  double patches = 1;                 ///< of the whole image
  double tokens = 1;

  [[nodiscard]] std::string item() const;
};
/// The stated image in cells of `merge` x `merge` patches, of which each becomes a token. Sides are rounded to whole cells.
ImageGrid stated_grid(std::int64_t patch, std::int64_t merge);
/// An image of `pixels` x `pixels` in patches; `merge` x `merge` of them become a token.
ImageGrid native_grid(std::int64_t pixels, std::int64_t patch, std::int64_t merge);

/// How a layer of a tower differs from the plain one.
struct TowerStyle {
  bool rms = false;
  bool qkv_bias = true;
  bool output_bias = true;
  bool mlp_bias = true;
  bool gated = false;
  std::int64_t norms = 2;
  std::int64_t qk_norm = 0;  ///< width of the norms of queries and keys; 0: none
  bool layer_scale = false;  ///< a learned factor a channel after attention and after the MLP
};
/// `count` layers whose positions see `keys` others.
void add_tower_layers(PartBuilder& part, std::int64_t count, const BlockShape& shape, const TowerStyle& style,
                      double keys);

/// A tower by its widths; heads divide the width.
struct TowerShape : BlockShape {
  std::int64_t layers = 1;
  std::int64_t patch = 1;
  std::int64_t channels = 3;
  std::int64_t frames = 1;  ///< of a patch, where the tower is made for video
};
/// Begins `vision_tower` with its patches.
PartBuilder begin_tower(std::string_view what, const TowerShape& shape, const ImageGrid& image, double positions,
                        bool patch_bias);

/// What the projector has to know of the tower.
struct TowerOutput {
  std::int64_t hidden = 1;
  ImageGrid image;
};
/// Of a tower whose outputs are taken from layer `feature_layer` (-1: the last one).
struct TowerUse {
  std::int64_t feature_layer = -1;
  std::int64_t merge = 1;  ///< positions along a side that become one token
};
/// Adds the tower that `vision_config.model_type` names, or says that there is none of that type.
/// @param otherwise  the type when it is not said
std::optional<TowerOutput> add_tower(Fields& in, const Fields& vision, const TowerUse& use, std::string_view otherwise,
                                     Network& out);

/// What stands between a tower and the text model: runs on every token that the text model gets.
PartBuilder begin_projector(std::string_view what, const ImageGrid& image);
/// Matrices that quantizers leave alone, as they leave the part.
void add_beside(Network& out, PartBuilder&& part);

/// A side of an image or a patch: a number, or a list that begins with it.
std::int64_t side_or(Fields& in, std::string_view key, std::int64_t otherwise);
/// How many positions become one along a side: the inverse of a ratio such as 0.5.
std::int64_t shuffle_factor(Fields& in, std::string_view key, double otherwise);
/// Heads, and what they make of `width`. A default that does not divide the width is no default: then the key is missing.
void read_tower_heads(Fields& in, TowerShape& shape, Keys keys, std::int64_t otherwise, std::int64_t width);
/// `vision_config`, unless there is none: then that is said.
std::optional<Fields> vision_config_of(Fields& in);

}  // namespace gpuplan
