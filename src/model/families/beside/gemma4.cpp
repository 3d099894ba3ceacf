// The vision tower of Gemma 4. Modules: transformers, models/gemma4.

#include "beside.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpuplan {
namespace {

/// The largest square image that is pooled to so many tokens.
ImageGrid pooled_grid(std::int64_t tokens, std::int64_t pool, std::int64_t patch) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(tokens)));
  const double cells = static_cast<double>(side) * static_cast<double>(side);
  return {bounded_product({side, pool, patch}), cells * static_cast<double>(pool) * static_cast<double>(pool), cells};
}

void note_audio(Fields& in) {
  const Node* audio = in.find({"audio_config"});
  if (audio && !audio->items.empty()) in.not_modelled("audio encoder (audio_config)");
}

}  // namespace

void beside_gemma4(Fields& in, const Architecture& text, Network& out) {
  note_audio(in);
  auto vision = vision_config_of(in);
  if (!vision) return;
  TowerShape s;
  s.hidden = vision->count({"hidden_size"});
  s.intermediate = vision->count({"intermediate_size"});
  s.layers = vision->count({"num_hidden_layers"});
  s.heads = vision->count({"num_attention_heads"});
  s.head_dim = vision->count_or({"head_dim"}, 64);
  s.patch = vision->count_or({"patch_size"}, 16);
  if (vision->count_or({"num_key_value_heads"}, s.heads) != s.heads) {
    in.not_modelled("vision tower whose heads share keys and values");
    return;
  }
  const std::int64_t tokens = in.count_or({"vision_soft_tokens_per_image"}, 280);
  const ImageGrid image = pooled_grid(tokens, vision->count_or({"pooling_kernel_size"}, 3), s.patch);
  PartBuilder tower = begin_tower("Gemma 4 vision tower", s, image, image.patches, false);
  const std::int64_t rows = vision->count_or({"position_embedding_size"}, 10240);
  tower.table("position", 2 * rows, s.hidden, TensorRole::position);  // one for each direction
  add_tower_layers(tower, s.layers, s,
                   {.rms = true,
                    .qkv_bias = false,
                    .output_bias = false,
                    .mlp_bias = false,
                    .gated = true,
                    .norms = 4,
                    .qk_norm = s.head_dim},
                   image.patches);
  if (vision->flag({"standardize"}, false)) tower.vector("standardize", TensorRole::state, s.hidden, 2);
  add_beside(out, std::move(tower));
  PartBuilder projector = begin_projector("linear layer", image);
  projector.linear("linear", text.hidden, s.hidden, {.bias = false});
  add_beside(out, std::move(projector));
}

}  // namespace gpuplan
