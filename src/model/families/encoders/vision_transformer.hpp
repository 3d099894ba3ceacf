#pragma once
/// Vision towers of image-text encoders, also as part of vision-language models.
///
///     out.parts.push_back(clip_vision_tower(in.inside(*vision_config), {.layers_run = 23}));
///
/// Numbers that `vision_config` leaves out are the classes' defaults. The item is one image of the size that the config
/// says.

#include "../fields.hpp"
#include "../part_builder.hpp"

#include <gpuplan/model/network.hpp>

#include <cstdint>
#include <string>

namespace gpuplan {

struct VisionTowerOptions {
  std::string name = "vision_tower";
  std::int64_t layers = 0;  ///< layers that are loaded; 0: all that the config has
  std::int64_t layers_run =
      0;  ///< an image goes through so many of them; 0: all (`vision_feature_layer` -2 leaves out one)
  bool final_norm = true;
  bool head = true;  ///< SigLIP: the attention that pools the positions, unless the config says there is none
  bool any_resolution =
      false;  ///< SigLIP: a table of `num_patches` for images of any size, as the second version may have
};

/// Sizes of a tower, as its class's defaults unless the config says otherwise.
struct VisionShape {
  std::int64_t hidden = 768;
  std::int64_t intermediate = 3072;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t head_dim = 64;
  std::int64_t channels = 3;
  std::int64_t image = 224;
  std::int64_t patch = 32;
  std::int64_t patches = 49;
};
/// @param default_patch  32 of CLIP, 16 of SigLIP
VisionShape read_vision_shape(Fields& in, std::int64_t default_patch, std::int64_t default_image = 224);

/// A class token, a norm before and (on the class token) after the layers.
PartBuilder build_clip_vision_tower(Fields in, const VisionTowerOptions& o = {});
NetworkPart clip_vision_tower(Fields in, const VisionTowerOptions& o = {});

/// No class token, biased patches, a norm after the layers and a head of attention.
PartBuilder build_siglip_vision_tower(Fields in, const VisionTowerOptions& o = {});
NetworkPart siglip_vision_tower(Fields in, const VisionTowerOptions& o = {});

/// The layers of such a tower, `positions` a part's own: norms before the blocks, biases everywhere.
void add_vision_layers(PartBuilder& part, const VisionShape& shape, const VisionTowerOptions& o = {});

/// `image of 336 x 336`
std::string image_item(std::int64_t height, std::int64_t width);

}  // namespace gpuplan
