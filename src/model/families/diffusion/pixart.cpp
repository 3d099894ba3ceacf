/// Diffusion transformers over patches, modulated by the time step: PixArtTransformer2DModel with cross-attention to text, and
/// DiTTransformer2DModel of classes. Both were Transformer2DModel once, which their files still say. Source: the classes of these
/// names in the `diffusers` library.

#include "../family.hpp"
#include "blocks.hpp"

namespace gpuplan {
namespace {

constexpr double kVaeFactor = 8;
constexpr double kTextTokens = 120;         // the pipeline's `max_sequence_length`
constexpr std::int64_t kLargeSample = 128;  // from here on, sizes are conditions too

struct Patches {
  std::int64_t heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t layers = 1;
  std::int64_t patch = 1;
  std::int64_t channels = 1;
  LatentSize latents;
  bool bias = true;

  [[nodiscard]] std::int64_t width() const { return heads * head_dim; }
  [[nodiscard]] double tokens() const { return latents.area() / static_cast<double>(patch * patch); }
  [[nodiscard]] std::string title() const {
    return std::to_string(layers) + " blocks, width " + std::to_string(width());
  }
};

Patches read_patches(Fields& in, bool bias) {
  Patches p;
  p.heads = width_of(in, "num_attention_heads", 16);
  p.head_dim = width_of(in, "attention_head_dim", 72);
  p.layers = layer_count(in, "num_layers", 28);
  p.patch = bounded_count(in, "patch_size", 2, 64);
  p.channels = width_of(in, "in_channels", 4);
  p.latents = latent_size(in, "sample_size");
  p.bias = in.flag({"attention_bias"}, bias);
  if (in.flag({"norm_elementwise_affine"}, false)) in.unreadable("a diffusion transformer whose norms have weights");
  const std::string activation = in.text({"activation_fn"});
  if (activation == "geglu") in.unreadable("a diffusion transformer with gated MLPs");
  return p;
}

void add_self_attention(PartBuilder& b, const Patches& p) {
  const std::int64_t w = p.width();
  add_attention(b, "attention", {w, w, w, p.tokens(), p.tokens(), p.bias});
  b.attend(p.heads, p.head_dim, p.tokens(), p.tokens());
}

}  // namespace

void read_pixart_transformer(Fields& in, Network& out) {
  const Patches p = read_patches(in, true);
  const std::int64_t w = p.width();
  const std::int64_t text = width_of(in, "cross_attention_dim", w);
  PartBuilder b("transformer", p.title(), "step at " + pixels_of(p.latents, kVaeFactor), p.tokens());
  b.part().text = kTextTokens;
  b.conv("input", w, p.channels, p.patch * p.patch);
  add_embedder(b, "time", kTimeFrequencies, w);
  const bool large = !(p.latents.width < kLargeSample) && !(p.latents.width > kLargeSample);
  if (in.flag({"use_additional_conditions"}, large)) {
    add_embedder(b, "resolution", kTimeFrequencies, w / 3);
    add_embedder(b, "aspect_ratio", kTimeFrequencies, w / 3);
  }
  b.linear("modulation", 6 * w, w, {.uses = 1});
  add_embedder(b, "text_input", width_of(in, "caption_channels", 4096), w, kTextTokens);
  b.layers(p.layers, [&](PartBuilder& block) {
    add_self_attention(block, p);
    add_attention(block, "cross_attention", {w, w, text, p.tokens(), kTextTokens, p.bias});
    block.attend(p.heads, p.head_dim, p.tokens(), kTextTokens);
    add_mlp(block, "mlp", w, 4 * w, p.tokens());
    block.vector("modulation", TensorRole::bias, w, 6);
  });
  b.vector("output_modulation", TensorRole::bias, w, 2);
  b.linear("output", p.patch * p.patch * width_of(in, "out_channels", p.channels), w);
  out.parts.push_back(b.take());
}

/// Each block embeds time step and class on its own.
void read_class_transformer(Fields& in, Network& out) {
  const Patches p = read_patches(in, true);
  const std::int64_t w = p.width();
  const std::int64_t classes = bounded_count(in, "num_embeds_ada_norm", 1000, Fields::kMost) + 1;  // and none
  if (in.has({"cross_attention_dim"})) in.unreadable("a diffusion transformer of classes with cross-attention");
  PartBuilder b("transformer", p.title(), "step at " + pixels_of(p.latents, kVaeFactor), p.tokens());
  b.conv("input", w, p.channels, p.patch * p.patch);
  b.layers(p.layers, [&](PartBuilder& block) {
    add_embedder(block, "time", kTimeFrequencies, w);
    block.table("class", classes, w);
    block.linear("modulation", 6 * w, w, {.uses = 1});
    add_self_attention(block, p);
    add_mlp(block, "mlp", w, 4 * w, p.tokens());
  });
  add_output_patches(b, w, p.patch * p.patch * width_of(in, "out_channels", p.channels), p.tokens());
  out.parts.push_back(b.take());
}

void read_transformer_2d(Fields& in, Network& out) {
  const std::string norm = in.text({"norm_type"});
  if (in.has({"patch_size"}) && norm == "ada_norm_single") {
    read_pixart_transformer(in, out);
  } else if (in.has({"patch_size"}) && norm == "ada_norm_zero") {
    read_class_transformer(in, out);
  } else {
    in.unreadable("a diffusion transformer with norms of type '" + norm + "'");
  }
}

}  // namespace gpuplan
