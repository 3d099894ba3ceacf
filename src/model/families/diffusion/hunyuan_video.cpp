/// HunyuanVideoTransformer3DModel: text goes through refining blocks of its own, then as in other joint transformers. Source: the
/// class of this name in the `diffusers` library.

#include "../family.hpp"
#include "autoencoder.hpp"

namespace gpuplan {
namespace {

// The config says no size; the pipeline's own. Latents stand for 8 x 8 pixels and, but for the first, 4 frames.
constexpr Clip kClip{1280, 720, 129};
constexpr double kVaeFactor = 8;
constexpr double kVaeFrames = 4;
constexpr double kTextTokens = 256;

struct RefinedText {
  std::int64_t width = 1;
  std::int64_t refiners = 1;
};

void add_refiner(PartBuilder& b, const JointStreams& s, const RefinedText& text) {
  const std::int64_t w = s.width();
  add_embedder(b, "refiner.time", kTimeFrequencies, w);
  add_embedder(b, "refiner.pooled_text", text.width, w);
  b.linear("refiner.input", w, text.width, {.uses = s.text});
  b.layers(
      text.refiners,
      [&](PartBuilder& block) {
        block.norm("norm", w, 2);
        add_attention(block, "attention", {w, w, w, s.text, s.text});
        add_mlp(block, "mlp", w, 4 * w, s.text);
        block.linear("modulation", 2 * w, w, {.uses = 1});
        block.attend(s.heads, s.head_dim, s.text, s.text);
      },
      "refiner");
}

}  // namespace

void read_hunyuan_video_transformer(Fields& in, Network& out) {
  if (in.has({"image_proj_dim", "image_embed_dim"})) in.unreadable("a video transformer with an image projection");
  JointStreams s;
  s.heads = width_of(in, "num_attention_heads", 24);
  s.head_dim = width_of(in, "attention_head_dim", 128);
  const std::int64_t w = s.width();
  s.hidden = static_cast<std::int64_t>(static_cast<double>(w) * factor_of(in, "mlp_ratio", 4));
  s.text = kTextTokens;
  const RefinedText text{width_of(in, "text_embed_dim", 4096), layer_count(in, "num_refiner_layers", 2)};
  const std::int64_t doubles = layer_count(in, "num_layers", 20);
  const std::int64_t singles = layer_count(in, "num_single_layers", 40);
  const std::int64_t side = bounded_count(in, "patch_size", 2, 64);
  const std::int64_t depth = bounded_count(in, "patch_size_t", 1, 64);
  const std::int64_t channels = width_of(in, "in_channels", 16);
  const double pixels = kVaeFactor * static_cast<double>(side);
  const double frames = ((kClip.frames - 1) / kVaeFrames + 1) / static_cast<double>(depth);
  s.image = kClip.width / pixels * (kClip.height / pixels) * frames;

  PartBuilder b("transformer",
                std::to_string(doubles) + " + " + std::to_string(singles) + " blocks, width " + std::to_string(w),
                "step at " + to_string(kClip), s.image);
  b.part().text = s.text;
  b.conv("input", w, channels, side * side * depth);
  add_refiner(b, s, text);
  add_embedder(b, "time", kTimeFrequencies, w);
  if (in.flag({"guidance_embeds"}, true)) add_embedder(b, "guidance", kTimeFrequencies, w);
  add_embedder(b, "pooled_text", width_of(in, "pooled_projection_dim", 768), w);
  b.layers(
      doubles, [&](PartBuilder& block) { add_double_block(block, s); }, "double_blocks");
  b.layers(
      singles, [&](PartBuilder& block) { add_single_block(block, s); }, "single_blocks");
  add_output_patches(b, w, side * side * depth * width_of(in, "out_channels", channels), s.image);
  out.parts.push_back(b.take());
}

}  // namespace gpuplan
