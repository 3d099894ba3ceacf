/// SD3Transformer2DModel: blocks with weights of their own for image and text; the first ones may attend to the image once
/// more, and the last gives no text on. Source: the class of this name in the `diffusers` library.

#include "../family.hpp"
#include "blocks.hpp"

#include <algorithm>

namespace gpuplan {
namespace {

constexpr double kVaeFactor = 8;
constexpr double kTextTokens = 77 + 256;  // of the pipeline's two kinds of text encoders

struct Shape {
  JointStreams streams;
  bool qk_norm = false;
};

void add_block(PartBuilder& b, const Shape& shape, bool dual, bool last) {
  const JointStreams& s = shape.streams;
  const std::int64_t w = s.width();
  b.linear("modulation", (dual ? 9 : 6) * w, w, {.uses = 1});
  b.linear("text_modulation", (last ? 2 : 6) * w, w, {.uses = 1});
  add_attention(b, "attention", {w, w, w, s.image, s.image});
  LinearOptions text{.count = 3, .role = TensorRole::attention, .sharding = Sharding::column, .uses = s.text};
  b.linear("text_attention.qkv", w, w, text);
  text.count = 1;
  text.sharding = Sharding::row;
  if (!last) b.linear("text_attention.out", w, w, text);
  if (shape.qk_norm) b.norm("attention.qk_norm", s.head_dim, 4, false);
  b.attend(s.heads, s.head_dim, s.all(), s.all());
  if (dual) {
    add_attention(b, "second_attention", {w, w, w, s.image, s.image});
    if (shape.qk_norm) b.norm("second_attention.qk_norm", s.head_dim, 2, false);
    b.attend(s.heads, s.head_dim, s.image, s.image);
  }
  add_mlp(b, "mlp", w, s.hidden, s.image);
  if (!last) add_mlp(b, "text_mlp", w, s.hidden, s.text);
}

/// How many layers have a second attention, and whether the last is one of them.
struct Duals {
  std::int64_t count = 0;
  bool last = false;
};
Duals read_duals(Fields& in, std::int64_t layers) {
  std::vector<std::int64_t> listed = in.amounts("dual_attention_layers");
  std::sort(listed.begin(), listed.end());
  listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
  Duals out;
  for (const std::int64_t layer : listed) {
    if (layer + 1 < layers) ++out.count;
    if (layer + 1 == layers) out.last = true;
  }
  return out;
}

}  // namespace

void read_sd3_transformer(Fields& in, Network& out) {
  Shape shape;
  JointStreams& s = shape.streams;
  s.heads = width_of(in, "num_attention_heads", 18);
  s.head_dim = width_of(in, "attention_head_dim", 64);
  const std::int64_t w = s.width();
  s.hidden = 4 * w;
  const LatentSize latents = latent_size(in, "sample_size", 128);
  const std::int64_t patch = bounded_count(in, "patch_size", 2, 64);
  s.image = latents.area() / static_cast<double>(patch * patch);
  s.text = kTextTokens;
  shape.qk_norm = !in.text({"qk_norm"}).empty();
  const std::int64_t layers = layer_count(in, "num_layers", 18);
  const std::int64_t channels = width_of(in, "in_channels", 16);
  const Duals duals = read_duals(in, layers);
  if (in.has({"caption_projection_dim"}) && width_of(in, "caption_projection_dim") != w && in.sound()) {
    in.wrong("caption_projection_dim", "text is projected to another width than " + std::to_string(w),
             "heads x head width");
  }

  PartBuilder b("transformer", std::to_string(layers) + " blocks, width " + std::to_string(w),
                "step at " + pixels_of(latents, kVaeFactor), s.image);
  b.part().text = s.text;
  b.conv("input", w, channels, patch * patch);
  add_embedder(b, "time", kTimeFrequencies, w);
  add_embedder(b, "pooled_text", width_of(in, "pooled_projection_dim", 2048), w);
  b.linear("text_input", w, width_of(in, "joint_attention_dim", 4096), {.uses = s.text});
  b.layers(
      duals.count, [&](PartBuilder& block) { add_block(block, shape, true, false); }, "dual_blocks");
  b.layers(
      layers - 1 - duals.count, [&](PartBuilder& block) { add_block(block, shape, false, false); }, "blocks");
  b.layers(
      1, [&](PartBuilder& block) { add_block(block, shape, duals.last, true); }, "last_block");
  add_output_patches(b, w, patch * patch * width_of(in, "out_channels", channels), s.image);
  out.parts.push_back(b.take());

  const auto side = static_cast<double>(width_of(in, "pos_embed_max_size", 96));
  note_position_table(in, side * side * static_cast<double>(w));
}

}  // namespace gpuplan
