/// WanTransformer3DModel: attention over the video, cross-attention to text and, in some, to an image. Source: the class of this name
/// in the `diffusers` library.

#include "../family.hpp"
#include "autoencoder.hpp"

namespace gpuplan {
namespace {

// The config says no size; the pipeline's own. Latents stand for 8 x 8 pixels and, but for the first, 4 frames.
constexpr Clip kClip{832, 480, 81};
constexpr double kVaeFactor = 8;
constexpr double kVaeFrames = 4;
constexpr double kTextTokens = 512;
constexpr double kImageTokens = 257;  // of the image encoder, with its class token

struct Shape {
  std::int64_t heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t hidden = 1;
  std::int64_t added = 0;  // width of image keys and values; 0: none
  double tokens = 1;
  bool cross_norm = true;

  [[nodiscard]] std::int64_t width() const { return heads * head_dim; }
};

void add_block(PartBuilder& b, const Shape& s) {
  const std::int64_t w = s.width();
  add_attention(b, "attention", {w, w, w, s.tokens, s.tokens});
  b.attend(s.heads, s.head_dim, s.tokens, s.tokens);
  add_attention(b, "cross_attention", {w, w, w, s.tokens, kTextTokens});
  b.attend(s.heads, s.head_dim, s.tokens, kTextTokens);
  b.norm("qk_norm", w, 4, false);
  if (s.added > 0) {
    b.linear("cross_attention.image_kv", w, s.added,
             {.count = 2, .role = TensorRole::attention, .sharding = Sharding::column, .uses = kImageTokens});
    b.norm("cross_attention.image_norm", w, 1, false);
    b.attend(s.heads, s.head_dim, s.tokens, kImageTokens);
  }
  if (s.cross_norm) b.norm("cross_attention.norm", w);
  add_mlp(b, "mlp", w, s.hidden, s.tokens);
  b.vector("modulation", TensorRole::bias, w, 6);
}

/// What an image encoder gives, normed, through an MLP as wide as it, normed.
void add_image_input(PartBuilder& b, Fields& in, std::int64_t width) {
  if (!in.has({"image_dim"})) return;
  const std::int64_t image = width_of(in, "image_dim");
  b.norm("image_input.norm_1", image);
  b.linear("image_input.linear_1", image, image, {.uses = kImageTokens});
  b.linear("image_input.linear_2", width, image, {.uses = kImageTokens});
  b.norm("image_input.norm_2", width);
  if (in.has({"pos_embed_seq_len"}))
    b.table("image_input.position", width_of(in, "pos_embed_seq_len"), image, TensorRole::position);
}

}  // namespace

void read_wan_transformer(Fields& in, Network& out) {
  Shape s;
  s.heads = width_of(in, "num_attention_heads", 40);
  s.head_dim = width_of(in, "attention_head_dim", 128);
  s.hidden = bounded_count(in, "ffn_dim", 13824, 1000000);
  s.added = in.has({"added_kv_proj_dim"}) ? width_of(in, "added_kv_proj_dim") : 0;
  s.cross_norm = in.flag({"cross_attn_norm"}, true);
  const std::int64_t w = s.width();
  const std::int64_t layers = layer_count(in, "num_layers", 40);
  const std::int64_t channels = width_of(in, "in_channels", 16);
  const std::vector<std::int64_t> patch =
      in.has({"patch_size"}) ? per_level(in, "patch_size", 3, 1, 64) : std::vector<std::int64_t>{1, 2, 2};
  const std::int64_t volume = patch[0] * patch[1] * patch[2];
  const double frames = (kClip.frames - 1) / kVaeFrames + 1;
  s.tokens = kClip.width / kVaeFactor * (kClip.height / kVaeFactor) * frames / static_cast<double>(volume);

  PartBuilder b("transformer", std::to_string(layers) + " blocks, width " + std::to_string(w),
                "step at " + to_string(kClip), s.tokens);
  b.part().text = kTextTokens;
  b.conv("input", w, channels, volume);
  add_embedder(b, "time", width_of(in, "freq_dim", kTimeFrequencies), w);
  b.linear("modulation", 6 * w, w, {.uses = 1});
  add_embedder(b, "text_input", width_of(in, "text_dim", 4096), w, kTextTokens);
  add_image_input(b, in, w);
  b.layers(layers, [&](PartBuilder& block) { add_block(block, s); });
  b.linear("output", volume * width_of(in, "out_channels", 16), w);
  b.vector("output_modulation", TensorRole::bias, w, 2);
  out.parts.push_back(b.take());
}

}  // namespace gpuplan
