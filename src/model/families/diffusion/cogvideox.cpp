/// CogVideoXTransformer3DModel: image and text tokens in one sequence with the same weights. Source: the class of this name in the
/// `diffusers` library.

#include "../family.hpp"
#include "autoencoder.hpp"

namespace gpuplan {
namespace {

constexpr double kVaeFactor = 8;

struct Shape {
  std::int64_t heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t time = 1;
  double image = 1;
  double text = 1;
  bool bias = true;
  bool affine = true;

  [[nodiscard]] std::int64_t width() const { return heads * head_dim; }
  [[nodiscard]] double all() const { return image + text; }
};

void add_block(PartBuilder& b, const Shape& s) {
  const std::int64_t w = s.width();
  b.linear("modulation", 6 * w, s.time, {.count = 2, .uses = 1});
  if (s.affine) b.norm("norm", w, 2);
  add_attention(b, "attention", {w, w, w, s.all(), s.all(), s.bias});
  b.norm("attention.qk_norm", s.head_dim, 2);
  add_mlp(b, "mlp", w, 4 * w, s.all());
  b.attend(s.heads, s.head_dim, s.all(), s.all());
}

}  // namespace

void read_cogvideox_transformer(Fields& in, Network& out) {
  Shape s;
  s.heads = width_of(in, "num_attention_heads", 30);
  s.head_dim = width_of(in, "attention_head_dim", 64);
  s.time = width_of(in, "time_embed_dim", 512);
  s.bias = in.flag({"attention_bias"}, true);
  s.affine = in.flag({"norm_elementwise_affine"}, true);
  const std::int64_t w = s.width();
  const std::int64_t layers = layer_count(in, "num_layers", 30);
  const std::int64_t side = bounded_count(in, "patch_size", 2, 64);
  const std::int64_t channels = width_of(in, "in_channels", 16);
  const std::int64_t depth = in.has({"patch_size_t"}) ? bounded_count(in, "patch_size_t", 0, 64) : 1;
  const Clip latents{static_cast<double>(width_of(in, "sample_width", 90)),
                     static_cast<double>(width_of(in, "sample_height", 60)),
                     static_cast<double>(width_of(in, "sample_frames", 49))};
  const auto ratio = static_cast<double>(width_of(in, "temporal_compression_ratio", 4));
  const double frames = ((latents.frames - 1) / ratio + 1) / static_cast<double>(depth);
  s.image = latents.width * latents.height * frames / static_cast<double>(side * side);
  s.text = static_cast<double>(width_of(in, "max_text_seq_length", 226));

  const Clip clip{latents.width * kVaeFactor, latents.height * kVaeFactor, latents.frames};
  PartBuilder b("transformer", std::to_string(layers) + " blocks, width " + std::to_string(w),
                "step at " + to_string(clip), s.image);
  b.part().text = s.text;
  if (in.has({"patch_size_t"})) {
    b.linear("input", w, channels * side * side * depth);
  } else {
    b.conv("input", w, channels, side * side, {.bias = in.flag({"patch_bias"}, true)});
  }
  b.linear("text_input", w, width_of(in, "text_embed_dim", 4096), {.uses = s.text});
  b.linear("time.linear_1", s.time, w, {.uses = 1});
  b.linear("time.linear_2", s.time, s.time, {.uses = 1});
  if (in.has({"ofs_embed_dim"})) {
    const std::int64_t offset = width_of(in, "ofs_embed_dim");
    add_embedder(b, "offset", offset, offset);
  }
  b.layers(layers, [&](PartBuilder& block) { add_block(block, s); });
  if (s.affine) b.norm("output_norm", w, 2);
  b.linear("output_modulation", 2 * w, s.time, {.uses = 1});
  b.linear("output", side * side * depth * width_of(in, "out_channels", 16), w);
  out.parts.push_back(b.take());
  if (in.flag({"use_learned_positional_embeddings"}, false)) note_position_table(in, s.all() * static_cast<double>(w));
}

}  // namespace gpuplan
