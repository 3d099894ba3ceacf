/// LTXVideoTransformer3DModel and its autoencoder, AutoencoderKLLTXVideo without noise and time step in the decoder. Source: the
/// classes of these names in the `diffusers` library.

#include "../family.hpp"
#include "autoencoder.hpp"

#include <algorithm>

namespace gpuplan {
namespace {

// The configs say no size; the pipeline's own. Latents stand for 32 x 32 pixels and, but for the first, 8 frames.
constexpr Clip kClip{704, 512, 161};
constexpr double kVaeFactor = 32;
constexpr double kVaeFrames = 8;
constexpr double kTextTokens = 128;
constexpr std::int64_t kKernel = 27;
constexpr std::int64_t kUpscale = 8;  // twice the width, the height and the frames, shuffled out of the channels

struct Shape {
  std::int64_t heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t text = 1;
  double tokens = 1;
  bool bias = true;
  bool output_bias = true;

  [[nodiscard]] std::int64_t width() const { return heads * head_dim; }
};

void add_block(PartBuilder& b, const Shape& s) {
  const std::int64_t w = s.width();
  add_attention(b, "attention", {w, w, w, s.tokens, s.tokens, s.bias, s.output_bias});
  b.attend(s.heads, s.head_dim, s.tokens, s.tokens);
  add_attention(b, "cross_attention", {w, w, s.text, s.tokens, kTextTokens, s.bias, s.output_bias});
  b.attend(s.heads, s.head_dim, s.tokens, kTextTokens);
  b.norm("qk_norm", w, 4, false);
  add_mlp(b, "mlp", w, 4 * w, s.tokens);
  b.vector("modulation", TensorRole::bias, w, 6);
}

/// One half of the autoencoder, the finest resolution first.
struct Half {
  std::vector<std::int64_t> channels;
  std::vector<std::int64_t> layers;  // of each resolution, then of the middle
  std::vector<bool> scaling;
  std::vector<Clip> clips;

  [[nodiscard]] std::size_t last() const { return channels.size() - 1; }
};

/// Norms here have no weights.
void add_plain_resnets(PartBuilder& b, const std::string& name, std::int64_t count, std::int64_t c, double p) {
  b.layers(
      count, [&](PartBuilder& block) { block.conv("conv", c, c, kKernel, {.count = 2, .uses = p}); }, name);
}

void add_widening_resnet(PartBuilder& b, const std::string& name, std::int64_t inputs, std::int64_t outputs, double p) {
  if (inputs == outputs) return;
  b.conv(name + ".conv_1", outputs, inputs, kKernel, {.uses = p});
  b.conv(name + ".conv_2", outputs, outputs, kKernel, {.uses = p});
  b.norm(name + ".norm", inputs);
  b.conv(name + ".shortcut", outputs, inputs, 1, {.uses = p});
}

Half read_half(Fields& in, const std::string& prefix, const Half& otherwise, const Clip& clip) {
  Half h;
  const auto key = [&](std::string_view name) {
    const std::string own = prefix + std::string(name);
    return in.has({own}) || prefix.empty() ? own : std::string(name);
  };
  h.channels = level_widths(in, key("block_out_channels"), otherwise.channels);
  if (h.channels.empty()) return h;
  const std::size_t n = h.channels.size();
  const std::string layers = key("layers_per_block");
  if (in.has({layers}) || n != otherwise.channels.size()) {
    h.layers = per_level(in, layers, n + 1, 1, kMostLayers);
  } else {
    h.layers = otherwise.layers;
  }
  h.scaling = level_flags(in, key("spatio_temporal_scaling"), n, otherwise.scaling);
  h.clips = clip_resolutions(clip, n + 1, h.scaling, h.scaling);
  return h;
}

NetworkPart encoder_of(const Half& h, std::int64_t inputs, std::int64_t latents, const std::string& item) {
  PartBuilder b("encoder", "video VAE encoder: " + std::to_string(latents) + " latent channels", item);
  b.conv("input", h.channels[0], inputs, kKernel, {.uses = h.clips[0].positions()});
  std::int64_t c = h.channels[0];
  for (std::size_t i = 0; i <= h.last(); ++i) {
    const std::string name = "down_" + std::to_string(i);
    const double p = h.clips[i + 1].positions();
    add_plain_resnets(b, name, h.layers[i], c, h.clips[i].positions());
    if (h.scaling[i]) b.conv(name + ".downsample", c, c, kKernel, {.uses = p});
    const std::int64_t next = h.channels[std::min(i + 1, h.last())];
    add_widening_resnet(b, name + ".widen", c, next, p);
    c = next;
  }
  const double p = h.clips.back().positions();
  add_plain_resnets(b, "middle", h.layers.back(), c, p);
  b.conv("output", latents + 1, c, kKernel, {.uses = p});  // one variance for all
  return b.take();
}

NetworkPart decoder_of(const Half& h, std::int64_t outputs, std::int64_t latents, const std::string& item) {
  PartBuilder b("decoder", "video VAE decoder: " + std::to_string(latents) + " latent channels", item);
  double p = h.clips.back().positions();
  std::int64_t c = h.channels.back();
  b.conv("input", c, latents, kKernel, {.uses = p});
  add_plain_resnets(b, "middle", h.layers.back(), c, p);
  for (std::size_t i = h.last() + 1; i-- > 0;) {
    const std::string name = "up_" + std::to_string(h.last() - i);
    add_widening_resnet(b, name + ".widen", c, h.channels[i], p);
    c = h.channels[i];
    if (h.scaling[i]) b.conv(name + ".upsample", kUpscale * c, c, kKernel, {.uses = p});
    p = h.clips[i].positions();
    add_plain_resnets(b, name, h.layers[i], c, p);
  }
  b.conv("output", outputs, c, kKernel, {.uses = p});
  return b.take();
}

/// Later releases condition the decoder on noise and time, and build other blocks.
bool refuse_variants(Fields& in) {
  bool refused = in.flag({"timestep_conditioning"}, false);
  for (const std::string_view key : {"decoder_inject_noise", "upsample_residual"}) {
    const Node* list = in.find({key});
    if (!list) continue;
    for (const Node& item : list->items) refused = refused || boolean_of(&item).value_or(true);
  }
  for (const std::int64_t factor : in.amounts("upsample_factor")) refused = refused || factor != 1;
  for (const std::string& type : in.texts("down_block_types")) refused = refused || type != "LTXVideoDownBlock3D";
  if (refused) in.unreadable("a video autoencoder whose decoder is conditioned or built of later blocks");
  return refused;
}

}  // namespace

void read_ltx_transformer(Fields& in, Network& out) {
  if (in.flag({"norm_elementwise_affine"}, false)) in.unreadable("a diffusion transformer whose norms have weights");
  Shape s;
  s.heads = width_of(in, "num_attention_heads", 32);
  s.head_dim = width_of(in, "attention_head_dim", 64);
  s.text = width_of(in, "cross_attention_dim", 2048);
  s.bias = in.flag({"attention_bias"}, true);
  s.output_bias = in.flag({"attention_out_bias"}, true);
  s.tokens = kClip.width / kVaeFactor * (kClip.height / kVaeFactor) * ((kClip.frames - 1) / kVaeFrames + 1);
  const std::int64_t w = s.width();
  const std::int64_t layers = layer_count(in, "num_layers", 28);
  const std::int64_t channels = width_of(in, "in_channels", 128);

  PartBuilder b("transformer", std::to_string(layers) + " blocks, width " + std::to_string(w),
                "step at " + to_string(kClip), s.tokens);
  b.part().text = kTextTokens;
  b.linear("input", w, channels);
  b.vector("output_modulation", TensorRole::bias, w, 2);
  add_embedder(b, "time", kTimeFrequencies, w);
  b.linear("modulation", 6 * w, w, {.uses = 1});
  add_embedder(b, "text_input", width_of(in, "caption_channels", 4096), w, kTextTokens);
  b.layers(layers, [&](PartBuilder& block) { add_block(block, s); });
  b.linear("output", width_of(in, "out_channels", 128), w);
  out.parts.push_back(b.take());
}

void read_ltx_autoencoder(Fields& in, Network& out) {
  if (refuse_variants(in)) return;
  const std::int64_t patch = bounded_count(in, "patch_size", 4, 64);
  const std::int64_t depth = bounded_count(in, "patch_size_t", 1, 64);
  const Half standard{{128, 256, 512, 512}, {4, 3, 3, 3, 4}, {true, true, true, false}, {}};
  const auto side = static_cast<double>(patch);
  const Clip patches{kClip.width / side, kClip.height / side, kClip.frames / static_cast<double>(depth)};
  const Half down = read_half(in, "", standard, patches);
  if (down.channels.empty()) return;
  const Half up = read_half(in, "decoder_", down, patches);
  if (up.channels.empty()) return;
  const std::int64_t latents = width_of(in, "latent_channels", 128);
  const std::string item = "video of " + to_string(kClip);
  const std::int64_t area = patch * patch;
  out.parts.push_back(encoder_of(down, width_of(in, "in_channels", 3) * area, latents, item));
  out.parts.push_back(decoder_of(up, width_of(in, "out_channels", 3) * area, latents, item));
}

}  // namespace gpuplan
