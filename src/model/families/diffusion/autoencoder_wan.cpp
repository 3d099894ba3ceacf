/// AutoencoderKLWan of videos, and AutoencoderKLQwenImage, the same network of single images. Source: the classes of these names in
/// the `diffusers` library.

#include "../family.hpp"
#include "autoencoder.hpp"

namespace gpuplan {
namespace {

constexpr Clip kVideo{832, 480, 81};  // the pipeline's own: the config says none
constexpr Clip kImage{1024, 1024, 1};
constexpr std::int64_t kKernel = 27;
constexpr std::int64_t kImageKernel = 9;  // frame by frame
constexpr std::int64_t kTimeKernel = 3;
constexpr double kFramesAtOnce = 4;  // the decoder goes latent by latent and keeps what the next one needs

struct Causal {
  std::vector<std::int64_t> factors;  // of the base width
  std::vector<bool> time;             // which halvings also halve the frames
  std::vector<Clip> clips;
  std::int64_t layers = 2;
  std::int64_t latents = 16;
  std::int64_t patch = 1;
  std::int64_t base = 96;
  std::int64_t decoder_base = 96;
  bool residual = false;  // averages around the blocks, without weights

  [[nodiscard]] std::size_t last() const { return factors.size() - 1; }
  [[nodiscard]] double positions(std::size_t level) const { return clips[level].positions(); }
};

/// Norms have a weight and no bias.
void add_causal_resnet(PartBuilder& b, const std::string& name, std::int64_t inputs, std::int64_t outputs, double p) {
  b.norm(name + ".norm_1", inputs, 1, false);
  b.conv(name + ".conv_1", outputs, inputs, kKernel, {.uses = p});
  b.norm(name + ".norm_2", outputs, 1, false);
  b.conv(name + ".conv_2", outputs, outputs, kKernel, {.uses = p});
  if (inputs != outputs) b.conv(name + ".shortcut", outputs, inputs, 1, {.uses = p});
}

void add_causal_resnets(PartBuilder& b, const std::string& name, std::int64_t count, std::int64_t inputs,
                        std::int64_t outputs, double p) {
  add_causal_resnet(b, name, inputs, outputs, p);
  b.layers(
      count - 1, [&](PartBuilder& r) { add_causal_resnet(r, "resnet", outputs, outputs, p); }, name);
}

/// Attention within each frame.
void add_middle(PartBuilder& b, const Causal& net, std::int64_t c) {
  const Clip& clip = net.clips.back();
  const double p = clip.positions();
  b.layers(
      2, [&](PartBuilder& r) { add_causal_resnet(r, "resnet", c, c, p); }, "middle");
  b.norm("middle.attention.norm", c, 1, false);
  b.conv("middle.attention.qkv", 3 * c, c, 1, {.uses = p});
  b.conv("middle.attention.out", c, c, 1, {.uses = p});
  b.attend(1, c, p, clip.width * clip.height);
}

/// Single images have no frames to halve, whatever weights there are for it.
double time_uses(const Causal& net, std::size_t level) { return net.clips[0].frames > 1 ? net.positions(level) : 0; }

NetworkPart encoder_of(const Causal& net, std::int64_t inputs, const std::string& item) {
  PartBuilder b("encoder", "VAE encoder: " + std::to_string(net.latents) + " latent channels", item);
  std::int64_t c = net.base;
  b.conv("input", c, inputs, kKernel, {.uses = net.positions(0)});
  for (std::size_t i = 0; i <= net.last(); ++i) {
    const std::string name = "down_" + std::to_string(i);
    const std::int64_t outer = net.base * net.factors[i];
    add_causal_resnets(b, name, net.layers, c, outer, net.positions(i));
    c = outer;
    if (i == net.last()) break;
    const Clip& next = net.clips[i + 1];
    b.conv(name + ".downsample", c, c, kImageKernel, {.uses = next.width * next.height * net.clips[i].frames});
    if (net.time[i]) b.conv(name + ".downsample_time", c, c, kTimeKernel, {.uses = time_uses(net, i + 1)});
  }
  add_middle(b, net, c);
  const double p = net.positions(net.last());
  b.norm("output_norm", c, 1, false);
  b.conv("output", 2 * net.latents, c, kKernel, {.uses = p});
  b.conv("quantization", 2 * net.latents, 2 * net.latents, 1, {.uses = p});
  return b.take();
}

NetworkPart decoder_of(const Causal& net, std::int64_t outputs, const std::string& item) {
  PartBuilder b("decoder", "VAE decoder: " + std::to_string(net.latents) + " latent channels", item);
  const double p = net.positions(net.last());
  b.conv("quantization", net.latents, net.latents, 1, {.uses = p});
  std::int64_t c = net.decoder_base * net.factors.back();
  b.conv("input", c, net.latents, kKernel, {.uses = p});
  add_middle(b, net, c);
  for (std::size_t i = net.last() + 1; i-- > 0;) {
    const std::string name = "up_" + std::to_string(net.last() - i);
    const std::int64_t outer = net.decoder_base * net.factors[i];
    add_causal_resnets(b, name, net.layers + 1, c, outer, net.positions(i));
    c = outer;
    if (i == 0) break;
    if (net.time[i - 1]) b.conv(name + ".upsample_time", 2 * c, c, kTimeKernel, {.uses = time_uses(net, i)});
    const std::int64_t next = net.residual ? c : c / 2;
    b.conv(name + ".upsample", next, c, kImageKernel, {.uses = net.positions(i - 1)});
    c = next;
  }
  b.norm("output_norm", c, 1, false);
  b.conv("output", outputs, c, kKernel, {.uses = net.positions(0)});
  if (net.clips[0].frames > 1) b.part().frames_at_once = kFramesAtOnce;
  return b.take();
}

void read_causal(Fields& in, Network& out, const Clip& clip, const std::string& item) {
  Causal net;
  net.factors = level_widths(in, "dim_mult", {1, 2, 4, 4});
  if (net.factors.empty()) return;
  const std::size_t n = net.factors.size();
  net.time = level_flags(in, "temperal_downsample", n - 1,
                         n == 4 ? std::vector<bool>{false, true, true} : std::vector<bool>(n));
  net.base = bounded_count(in, "base_dim", 96, kMostWidth);
  net.decoder_base = bounded_count(in, "decoder_base_dim", net.base, kMostWidth);
  net.latents = width_of(in, "z_dim", 16);
  net.layers = layer_count(in, "num_res_blocks", 2);
  net.residual = in.flag({"is_residual"}, false);
  net.patch = bounded_count(in, "patch_size", 1, 64);
  const Node* scales = in.find({"attn_scales"});
  if (scales && !scales->items.empty()) in.unreadable("an autoencoder with attention at some resolutions");
  const auto side = static_cast<double>(net.patch);
  net.clips = clip_resolutions({clip.width / side, clip.height / side, clip.frames}, n, std::vector<bool>(n - 1, true),
                               net.time);
  out.parts.push_back(encoder_of(net, width_of(in, "in_channels", 3), item));  // of patches already: 3 * 2 * 2
  out.parts.push_back(decoder_of(net, width_of(in, "out_channels", 3), item));
}

}  // namespace

void read_wan_autoencoder(Fields& in, Network& out) { read_causal(in, out, kVideo, "video of " + to_string(kVideo)); }

void read_qwen_image_autoencoder(Fields& in, Network& out) {
  read_causal(in, out, kImage, "image of " + pixels_of({kImage.width, kImage.height}, 1));
}

}  // namespace gpuplan
