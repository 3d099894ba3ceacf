// Flat configs that name their tower instead of describing it: LLaVA by its own code and Phi-3 Vision.
// Modules: LLaVA, multimodal_projector/builder.py; Phi-3 Vision, image_embedding_phi3_v.py.

#include "../encoders/vision_transformer.hpp"
#include "beside.hpp"

#include <gpuplan/base/reader.hpp>

#include <algorithm>
#include <utility>

namespace gpuplan {
namespace {

/// Towers by the names of their repositories, as the configurations there describe them.
struct NamedTower {
  std::string_view name;
  bool siglip;
  std::string_view config;
};
constexpr NamedTower kNamedTowers[] = {
    {"openai/clip-vit-large-patch14-336", false,  // product-name: the value of mm_vision_tower
     R"({"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
         "image_size": 336, "patch_size": 14})"},
    {"openai/clip-vit-large-patch14", false,  // product-name: the value of mm_vision_tower
     R"({"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
         "image_size": 224, "patch_size": 14})"},
    {"google/siglip-so400m-patch14-384", true,  // product-name: the value of mm_vision_tower
     R"({"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16,
         "image_size": 384, "patch_size": 14, "vision_use_head": false})"},
};

/// @param merge  positions along a side that become one token
std::optional<TowerOutput> add_named_tower(Fields& in, const std::string& name, std::int64_t merge, Network& out) {
  const auto row = std::find_if(std::begin(kNamedTowers), std::end(kNamedTowers),
                                [&](const NamedTower& tower) { return tower.name == name; });
  if (row == std::end(kNamedTowers)) {
    in.not_modelled("vision tower '" + name + "' and projector");
    return std::nullopt;
  }
  const Node described = parse_json(row->config, row->name);
  Fields vision = in.inside(described);
  const VisionShape s = read_vision_shape(vision, 1);
  const VisionTowerOptions options{.layers_run = s.layers - 1};  // features of the layer before the last
  add_beside(out, row->siglip ? build_siglip_vision_tower(vision, options) : build_clip_vision_tower(vision, options));
  return TowerOutput{s.hidden, native_grid(s.image, s.patch, merge)};
}

/// `mlp2x_gelu` has two layers, `linear` one; 0: another kind.
std::int64_t projector_layers(const std::string& type) {
  constexpr std::string_view ending = "x_gelu";
  if (type.empty() || type == "linear") return 1;
  if (!type.starts_with("mlp") || !type.ends_with(ending) || type.size() != 4 + ending.size()) return 0;
  const char digit = type[3];
  return digit >= '1' && digit <= '9' ? digit - '0' : 0;
}

}  // namespace

void beside_llava_flat(Fields& in, const Architecture& text, Network& out) {
  const std::string type = in.text({"mm_projector_type"});
  const std::int64_t layers = projector_layers(type);
  const auto tower = add_named_tower(in, in.text({"mm_vision_tower", "vision_tower"}), 1, out);
  if (!tower) return;
  if (layers == 0) {
    in.not_modelled("projector of type '" + type + "'");
    return;
  }
  PartBuilder part = begin_projector(std::to_string(layers) + " linear layer(s)", tower->image);
  part.linear("linear_1", text.hidden, tower->hidden);
  for (std::int64_t i = 2; i <= layers; ++i) {
    part.linear("linear_" + std::to_string(i), text.hidden, text.hidden);
  }
  if (in.text({"mm_patch_merge_type"}).find("unpad") != std::string::npos) {
    part.vector("image_newline", TensorRole::position, text.hidden);
  }
  add_beside(out, std::move(part));
}

/// Tiles whose positions are merged 2 x 2; two learned vectors stand between rows and between tiles.
void beside_phi3_v(Fields& in, const Architecture& text, Network& out) {
  constexpr std::int64_t merge = 2;
  const auto tower = add_named_tower(in, nested(in, {"img_processor"}).text({"model_name"}), merge, out);
  if (!tower) return;
  const std::int64_t width = bounded_product({tower->hidden, merge, merge});
  PartBuilder part = begin_projector("two linear layers", tower->image);
  part.linear("linear_1", text.hidden, width);
  part.linear("linear_2", text.hidden, text.hidden);
  part.vector("separator", TensorRole::position, width, 2);
  add_beside(out, std::move(part));
}

}  // namespace gpuplan
