/// SanaTransformer2DModel: linear attention over the image, cross-attention to text, MLPs of convolutions. Source: the class of this
/// name in the `diffusers` library.

#include "../family.hpp"
#include "blocks.hpp"

namespace gpuplan {
namespace {

constexpr double kVaeFactor = 32;
constexpr double kTextTokens = 300;  // the pipeline's `max_sequence_length`
constexpr std::int64_t kDepthwise = 9;

struct Shape {
  std::int64_t heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t cross_heads = 1;
  std::int64_t cross_head_dim = 1;
  std::int64_t text = 1;
  std::int64_t hidden = 1;
  double tokens = 1;
  bool bias = false;
  bool qk_norm = false;

  [[nodiscard]] std::int64_t width() const { return heads * head_dim; }
  [[nodiscard]] std::int64_t cross_width() const { return cross_heads * cross_head_dim; }
};

void add_block(PartBuilder& b, const Shape& s) {
  const std::int64_t w = s.width();
  add_attention(b, "attention", {w, w, w, s.tokens, s.tokens, s.bias});
  if (s.qk_norm) b.norm("attention.qk_norm", w, 2, false);
  // Keys meet values once, in a matrix of a head's width squared (and one sum): as if each query saw so many positions.
  b.attend(s.heads, s.head_dim, s.tokens, static_cast<double>(s.head_dim + 1));
  add_attention(b, "cross_attention", {w, s.cross_width(), s.text, s.tokens, kTextTokens});
  if (s.qk_norm) b.norm("cross_attention.qk_norm", s.cross_width(), 2, false);
  b.attend(s.cross_heads, s.cross_head_dim, s.tokens, kTextTokens);
  b.conv("mlp.up", 2 * s.hidden, w, 1);
  b.conv("mlp.depth", 2 * s.hidden, 2 * s.hidden, kDepthwise, {.groups = 2 * s.hidden});
  b.conv("mlp.down", w, s.hidden, 1, {.bias = false});
  b.vector("modulation", TensorRole::bias, w, 6);
}

Shape read_shape_of(Fields& in) {
  Shape s;
  s.heads = width_of(in, "num_attention_heads", 70);
  s.head_dim = width_of(in, "attention_head_dim", 32);
  s.cross_heads = width_of(in, "num_cross_attention_heads", 20);
  s.cross_head_dim = width_of(in, "cross_attention_head_dim", 112);
  s.text = width_of(in, "cross_attention_dim", 2240);
  s.hidden = static_cast<std::int64_t>(static_cast<double>(s.width()) * factor_of(in, "mlp_ratio", 2.5));
  s.hidden = s.hidden > 0 ? s.hidden : 1;
  s.bias = in.flag({"attention_bias"}, false);
  s.qk_norm = !in.text({"qk_norm"}).empty();
  return s;
}

}  // namespace

void read_sana_transformer(Fields& in, Network& out) {
  if (in.flag({"norm_elementwise_affine"}, false)) in.unreadable("a diffusion transformer whose norms have weights");
  Shape s = read_shape_of(in);
  const std::int64_t w = s.width();
  const LatentSize latents = latent_size(in, "sample_size", 32);
  const std::int64_t patch = bounded_count(in, "patch_size", 1, 64);
  s.tokens = latents.area() / static_cast<double>(patch * patch);
  const std::int64_t layers = layer_count(in, "num_layers", 20);
  const std::int64_t channels = width_of(in, "in_channels", 32);

  PartBuilder b("transformer", std::to_string(layers) + " blocks, width " + std::to_string(w),
                "step at " + pixels_of(latents, kVaeFactor), s.tokens);
  b.part().text = kTextTokens;
  b.conv("input", w, channels, patch * patch);
  add_embedder(b, "time", kTimeFrequencies, w);
  if (in.flag({"guidance_embeds"}, false)) add_embedder(b, "guidance", kTimeFrequencies, w);
  b.linear("modulation", 6 * w, w, {.uses = 1});
  add_embedder(b, "text_input", width_of(in, "caption_channels", 2304), w, kTextTokens);
  b.norm("text_norm", w, 1, false);
  b.layers(layers, [&](PartBuilder& block) { add_block(block, s); });
  b.vector("output_modulation", TensorRole::bias, w, 2);
  b.linear("output", patch * patch * width_of(in, "out_channels", channels), w);
  out.parts.push_back(b.take());
}

}  // namespace gpuplan
