// Wrappers with a tower of its own kind (`vision_config.model_type`) and a small projector: LLaVA and its heirs.
// Modules: transformers, models/{llava,llava_next,llava_onevision,vipllava,mistral3,paligemma,gemma3,aya_vision,idefics3}.

#include "beside.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

/// The layers of the tower that the projector sees, side by side: a number, or a list.
std::vector<std::int64_t> feature_layers(Fields& in, std::string_view key, std::vector<std::int64_t> otherwise) {
  const Node* value = in.find({key});
  if (!value) return otherwise;
  if (const auto one = whole_number_of(value)) return {*one};
  std::vector<std::int64_t> layers;
  for (const Node& item : value->items) {
    if (const auto one = whole_number_of(&item)) layers.push_back(*one);
  }
  return layers.empty() ? otherwise : layers;
}

/// The layer after which the tower may stop: -1 of a list that holds it.
std::int64_t last_of(const std::vector<std::int64_t>& layers) {
  if (layers.size() == 1) return layers.front();
  std::int64_t last = -1000;
  for (const std::int64_t layer : layers) {
    if (layer < 0) last = std::max(last, layer);
  }
  return last == -1000 ? -1 : last;
}

/// Two matrices with an activation between.
void add_two_linears(PartBuilder& part, std::int64_t from, std::int64_t to, bool bias) {
  part.linear("linear_1", to, from, {.bias = bias});
  part.linear("linear_2", to, to, {.bias = bias});
}

void read_llava_like(Fields& in, const Architecture& text, Network& out, std::int64_t feature_layer, bool newline) {
  const auto vision = vision_config_of(in);
  if (!vision) return;
  const std::vector<std::int64_t> layers = feature_layers(in, "vision_feature_layer", {feature_layer});
  const auto tower = add_tower(in, *vision, {.feature_layer = last_of(layers)}, "clip_vision_model", out);
  if (!tower) return;
  PartBuilder part = begin_projector("two linear layers", tower->image);
  add_two_linears(part, bounded_product({tower->hidden, static_cast<std::int64_t>(layers.size())}), text.hidden,
                  in.flag({"multimodal_projector_bias"}, true));
  if (newline) part.vector("image_newline", TensorRole::position, text.hidden);
  add_beside(out, std::move(part));
}

struct ShuffledProjector {
  bool gated = false;  ///< the first layer gives values and gates
  bool norm = true;
};

/// `downsample_factor` squared positions become the channels of one.
void read_shuffled(Fields& in, const Architecture& text, Network& out, const ShuffledProjector& kind) {
  const auto vision = vision_config_of(in);
  if (!vision) return;
  const std::int64_t merge = in.count_or({"downsample_factor"}, 2);
  const std::vector<std::int64_t> layers = feature_layers(in, "vision_feature_layer", {-1});
  const auto tower =
      add_tower(in, *vision, {.feature_layer = last_of(layers), .merge = merge}, "siglip_vision_model", out);
  if (!tower) return;
  const std::int64_t width = bounded_product({tower->hidden, merge, merge});
  const std::int64_t middle = in.count_or({"alignment_intermediate_size", "projector_hidden_size"}, text.hidden);
  const bool bias = in.flag({"projector_bias"}, true);
  PartBuilder part =
      begin_projector(kind.gated ? "pixel shuffle and gated MLP" : "pixel shuffle and MLP", tower->image);
  if (kind.norm) part.norm("norm", width);
  part.linear("linear_1", middle, width, {.bias = bias});
  part.linear("linear_2", text.hidden, kind.gated ? std::max<std::int64_t>(1, middle / 2) : middle, {.bias = bias});
  add_beside(out, std::move(part));
}

}  // namespace

/// The original code's configs are flat and name their tower.
void beside_llava(Fields& in, const Architecture& text, Network& out) {
  if (!in.has({"vision_config"}) && in.has({"mm_vision_tower"})) return beside_llava_flat(in, text, out);
  read_llava_like(in, text, out, -2, false);
}

/// Tiles of the tower's size; a learned vector ends each row of them.
void beside_llava_next(Fields& in, const Architecture& text, Network& out) { read_llava_like(in, text, out, -2, true); }

void beside_llava_onevision(Fields& in, const Architecture& text, Network& out) {
  read_llava_like(in, text, out, -1, true);
}

/// Five layers of the tower side by side, with a norm.
void beside_vipllava(Fields& in, const Architecture& text, Network& out) {
  const auto vision = vision_config_of(in);
  if (!vision) return;
  const std::vector<std::int64_t> layers = feature_layers(in, "vision_feature_layers", {-2, -5, -8, -11, 6});
  const auto tower = add_tower(in, *vision, {.feature_layer = last_of(layers)}, "clip_vision_model", out);
  if (!tower) return;
  const std::int64_t width = bounded_product({tower->hidden, static_cast<std::int64_t>(layers.size())});
  PartBuilder part = begin_projector("norm and two linear layers", tower->image);
  part.norm("norm", width);
  add_two_linears(part, width, text.hidden, true);
  add_beside(out, std::move(part));
}

/// `spatial_merge_size` squared patches become one token.
void beside_mistral3(Fields& in, const Architecture& text, Network& out) {
  const auto vision = vision_config_of(in);
  if (!vision) return;
  const std::int64_t merge = in.count_or({"spatial_merge_size"}, 2);
  const std::vector<std::int64_t> layers = feature_layers(in, "vision_feature_layer", {-1});
  const auto tower = add_tower(in, *vision, {.feature_layer = last_of(layers), .merge = merge}, "pixtral", out);
  if (!tower) return;
  PartBuilder part = begin_projector("patch merger and two linear layers", tower->image);
  part.norm("norm", tower->hidden, 1, false);
  part.linear("merger", tower->hidden, bounded_product({tower->hidden, merge, merge}), {.bias = false});
  add_two_linears(part, bounded_product({tower->hidden, static_cast<std::int64_t>(layers.size())}), text.hidden,
                  in.flag({"multimodal_projector_bias"}, false));
  add_beside(out, std::move(part));
}

void beside_paligemma(Fields& in, const Architecture& text, Network& out) {
  const auto vision = vision_config_of(in);
  if (!vision) return;
  const auto tower = add_tower(in, *vision, {}, "siglip_vision_model", out);
  if (!tower) return;
  PartBuilder part = begin_projector("linear layer", tower->image);
  part.linear("linear", text.hidden, tower->hidden);
  add_beside(out, std::move(part));
}

/// Patches are averaged to `mm_tokens_per_image` tokens.
void beside_gemma3(Fields& in, const Architecture& text, Network& out) {
  const auto vision = vision_config_of(in);
  if (!vision) return;
  constexpr std::int64_t default_tokens = 256;  // Gemma3Config
  auto tower = add_tower(in, *vision, {}, "siglip_vision_model", out);
  if (!tower) return;
  tower->image.tokens = static_cast<double>(in.count_or({"mm_tokens_per_image"}, default_tokens));
  PartBuilder part = begin_projector("norm and linear layer", tower->image);
  part.norm("norm", tower->hidden, 1, false);
  part.linear("linear", text.hidden, tower->hidden, {.bias = false});
  add_beside(out, std::move(part));
}

/// Positions are shuffled into channels; the first layer gives values and their gates.
void beside_aya_vision(Fields& in, const Architecture& text, Network& out) {
  read_shuffled(in, text, out, {.gated = true, .norm = in.text({"model_type"}) == "aya_vision"});
}

void beside_lfm2_vl(Fields& in, const Architecture& text, Network& out) {
  read_shuffled(in, text, out, {.gated = false, .norm = in.flag({"projector_use_layernorm"}, true)});
}

/// A gated MLP to the text model's width, then layers in which learned latents attend to the image and to themselves.
void beside_idefics2(Fields& in, const Architecture& text, Network& out) {
  const auto vision = vision_config_of(in);
  if (!vision) return;
  auto tower = add_tower(in, *vision, {}, "idefics2_vision", out);
  if (!tower) return;
  Fields perceiver = nested(in, {"perceiver_config"});
  const double patches = tower->image.patches;
  const std::int64_t latents = perceiver.count_or({"resampler_n_latents"}, 64);
  const std::int64_t heads = perceiver.count_or({"resampler_n_heads"}, 16);
  const std::int64_t head_dim = perceiver.count_or({"resampler_head_dim"}, 96);
  const std::int64_t kv = bounded_product({perceiver.count_or({"num_key_value_heads"}, 4), head_dim});
  const double keys = patches + static_cast<double>(latents);
  tower->image.tokens = static_cast<double>(latents);
  PartBuilder part = begin_projector("gated MLP and perceiver resampler", tower->image);
  part.linear("mlp.up", text.intermediate, tower->hidden, {.count = 2, .bias = false, .uses = patches});
  part.linear("mlp.down", text.hidden, text.intermediate, {.bias = false, .uses = patches});
  part.table("latents", latents, text.hidden, TensorRole::position);
  part.layers(perceiver.count_or({"resampler_depth"}, 3), [&](PartBuilder& layer) {
    layer.norm("norm", text.hidden, 3, false);
    layer.linear("attention.q", bounded_product({heads, head_dim}), text.hidden, {.bias = false});
    layer.linear("attention.kv", kv, text.hidden, {.count = 2, .bias = false, .uses = keys});
    layer.linear("attention.output", text.hidden, bounded_product({heads, head_dim}), {.bias = false});
    layer.attend(heads, head_dim, tower->image.tokens, keys);
    layer.linear("mlp.up", 4 * text.hidden, text.hidden, {.count = 2, .bias = false});
    layer.linear("mlp.down", text.hidden, 4 * text.hidden, {.bias = false});
  });
  part.norm("final_norm", text.hidden, 1, false);
  add_beside(out, std::move(part));
}

/// Idefics3 and SmolVLM: `scale_factor` squared positions of a tile become one token.
void beside_idefics3(Fields& in, const Architecture& text, Network& out) {
  const auto vision = vision_config_of(in);
  if (!vision) return;
  const std::int64_t merge = in.count_or({"scale_factor"}, 2);
  const auto tower = add_tower(in, *vision, {.merge = merge}, "idefics3_vision", out);
  if (!tower) return;
  PartBuilder part = begin_projector("pixel shuffle and linear layer", tower->image);
  part.linear("linear", text.hidden, bounded_product({tower->hidden, merge, merge}), {.bias = false});
  add_beside(out, std::move(part));
}

}  // namespace gpuplan
