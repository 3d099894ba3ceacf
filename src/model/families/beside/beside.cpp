#include "beside.hpp"

#include "../encoders/vision_transformer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace gpuplan {
namespace {

double squared(std::int64_t n) { return static_cast<double>(n) * static_cast<double>(n); }

/// A number as written, or `otherwise`.
double decimal_or(const Node* node, double otherwise) {
  if (!node || node->kind != Node::Kind::scalar || node->quoted) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(node->scalar.c_str(), &end);
  return end == node->scalar.c_str() + node->scalar.size() && std::isfinite(value) ? value : otherwise;
}

}  // namespace

std::string ImageGrid::item() const { return image_item(pixels, pixels); }

ImageGrid stated_grid(std::int64_t patch, std::int64_t merge) {
  const double cell = static_cast<double>(patch) * static_cast<double>(merge);
  const auto cells = static_cast<std::int64_t>(std::max(1.0, std::round(static_cast<double>(kStatedSide) / cell)));
  return {kStatedSide, squared(cells) * squared(merge), squared(cells)};
}

ImageGrid native_grid(std::int64_t pixels, std::int64_t patch, std::int64_t merge) {
  const std::int64_t side = std::max<std::int64_t>(1, pixels / patch);
  return {pixels, squared(side), squared(std::max<std::int64_t>(1, side / merge))};
}

void add_tower_layers(PartBuilder& part, std::int64_t count, const BlockShape& shape, const TowerStyle& style,
                      double keys) {
  part.layers(count, [&](PartBuilder& layer) {
    layer.norm("norm", shape.hidden, style.norms, !style.rms);
    add_attention(layer, shape, {.qkv_bias = style.qkv_bias, .output_bias = style.output_bias});
    if (style.qk_norm > 0) layer.norm("attention.qk_norm", style.qk_norm, 2, false);
    layer.attend(shape.heads, shape.head_dim, layer.positions(), keys);
    add_mlp(layer, shape, {.gated = style.gated, .up_bias = style.mlp_bias, .down_bias = style.mlp_bias});
    if (style.layer_scale) layer.vector("layer_scale", TensorRole::norm, shape.hidden, 2);
  });
}

PartBuilder begin_tower(std::string_view what, const TowerShape& shape, const ImageGrid& image, double positions,
                        bool patch_bias) {
  PartBuilder part("vision_tower", shape_title(what, shape.layers, shape.hidden), image.item(), positions);
  part.conv("patches", shape.hidden, shape.channels, bounded_product({shape.frames, shape.patch, shape.patch}),
            {.bias = patch_bias, .uses = image.patches});
  return part;
}

PartBuilder begin_projector(std::string_view what, const ImageGrid& image) {
  return {"projector", std::string(what), image.item(), image.tokens};
}

void add_beside(Network& out, PartBuilder&& part) {
  NetworkPart made = part.take();
  made.quantized = false;
  out.parts.push_back(std::move(made));
}

std::int64_t side_or(Fields& in, std::string_view key, std::int64_t otherwise) {
  const Node* value = in.find({key});
  if (!value || value->kind != Node::Kind::sequence) return in.count_or({key}, otherwise);
  const std::vector<std::int64_t> sides = in.amounts(key);
  if (sides.empty() || sides.front() == 0) return otherwise;
  return sides.front();
}

std::int64_t shuffle_factor(Fields& in, std::string_view key, double otherwise) {
  const double ratio = decimal_or(in.find({key}), otherwise);
  constexpr double least = 1e-3;
  return static_cast<std::int64_t>(std::round(1 / std::clamp(ratio, least, 1.0)));
}

void read_tower_heads(Fields& in, TowerShape& shape, Keys keys, std::int64_t otherwise, std::int64_t width) {
  shape.heads = in.count_or(keys, otherwise);
  if (!in.has(keys) && width % otherwise != 0) return in.missing(*keys.begin());
  shape.head_dim = head_dim_of(in, width, shape.heads, *keys.begin());
}

std::optional<Fields> vision_config_of(Fields& in) {
  const Node* config = in.find({"vision_config"});
  if (config && config->kind == Node::Kind::mapping && !config->items.empty()) return in.inside(*config);
  in.not_modelled("vision tower and projector: the config has no vision_config");
  return std::nullopt;
}

}  // namespace gpuplan
