/// Autoencoders of images: AutoencoderKL and its small stand-in AutoencoderTiny. Source: the classes of these names in the
/// `diffusers` library.

#include "../family.hpp"
#include "autoencoder.hpp"

namespace gpuplan {
namespace {

constexpr std::int64_t kKernel = 9;
constexpr std::int64_t kImageSide = 512;

struct Autoencoder {
  std::vector<std::int64_t> channels;
  std::int64_t latents = 4;
  std::int64_t layers = 1;
  LatentSize image;
  bool attention = true;

  [[nodiscard]] double positions(std::size_t level) const {
    double shrink = 1;
    for (std::size_t i = 0; i < level; ++i) shrink *= 4;
    return image.area() / shrink;
  }
};

void add_middle(PartBuilder& b, const Autoencoder& net, std::size_t level) {
  const std::int64_t c = net.channels.back();
  const double p = net.positions(level);
  b.layers(
      2, [&](PartBuilder& r) { add_resnet(r, "resnet", {.inputs = c, .outputs = c, .positions = p}); }, "middle");
  if (net.attention) add_middle_attention(b, "middle.attention", c, p, p);
}

NetworkPart encoder_of(Fields& in, const Autoencoder& net, const std::string& title, const std::string& item) {
  PartBuilder b("encoder", title, item);
  const std::size_t last = net.channels.size() - 1;
  b.conv("input", net.channels[0], width_of(in, "in_channels", 3), kKernel, {.uses = net.positions(0)});
  std::int64_t inputs = net.channels[0];
  for (std::size_t i = 0; i <= last; ++i) {
    const std::string name = "down_" + std::to_string(i);
    const std::int64_t c = net.channels[i];
    add_resnets(b, name, net.layers, {.inputs = inputs, .outputs = c, .positions = net.positions(i)});
    inputs = c;
    if (i < last) b.conv(name + ".downsample", c, c, kKernel, {.uses = net.positions(i + 1)});
  }
  add_middle(b, net, last);
  const double p = net.positions(last);
  b.norm("output_norm", inputs);
  b.conv("output", 2 * net.latents, inputs, kKernel, {.uses = p});  // a mean and a variance of each
  if (in.flag({"use_quant_conv"}, true)) b.conv("quantization", 2 * net.latents, 2 * net.latents, 1, {.uses = p});
  return b.take();
}

NetworkPart decoder_of(Fields& in, const Autoencoder& net, const std::string& title, const std::string& item) {
  PartBuilder b("decoder", title, item);
  const std::size_t last = net.channels.size() - 1;
  const double p = net.positions(last);
  if (in.flag({"use_post_quant_conv"}, true)) b.conv("quantization", net.latents, net.latents, 1, {.uses = p});
  std::int64_t inputs = net.channels[last];
  b.conv("input", inputs, net.latents, kKernel, {.uses = p});
  add_middle(b, net, last);
  for (std::size_t i = last + 1; i-- > 0;) {
    const std::string name = "up_" + std::to_string(last - i);
    const std::int64_t c = net.channels[i];
    add_resnets(b, name, net.layers + 1, {.inputs = inputs, .outputs = c, .positions = net.positions(i)});
    inputs = c;
    if (i > 0) b.conv(name + ".upsample", c, c, kKernel, {.uses = net.positions(i - 1)});
  }
  b.norm("output_norm", inputs);
  b.conv("output", width_of(in, "out_channels", 3), inputs, kKernel, {.uses = net.positions(0)});
  return b.take();
}

bool refuse_blocks(Fields& in, std::string_view key, std::string_view known) {
  for (const std::string& block : in.texts(key)) {
    if (block == known) continue;
    in.unreadable("an autoencoder with blocks of type '" + block + "'");
    return true;
  }
  return false;
}

/// A residual block of three convolutions.
void add_tiny_blocks(PartBuilder& b, const std::string& name, std::int64_t count, std::int64_t c, double p) {
  b.layers(
      count, [&](PartBuilder& block) { block.conv("conv", c, c, kKernel, {.count = 3, .uses = p}); }, name);
}

}  // namespace

void read_autoencoder_kl(Fields& in, Network& out) {
  if (refuse_blocks(in, "down_block_types", "DownEncoderBlock2D") ||
      refuse_blocks(in, "up_block_types", "UpDecoderBlock2D")) {
    return;
  }
  Autoencoder net;
  net.channels = level_widths(in, "block_out_channels");
  if (net.channels.empty()) return;
  net.latents = width_of(in, "latent_channels", 4);
  net.layers = layer_count(in, "layers_per_block", 1);
  net.image = latent_size(in, "sample_size", kImageSide);
  net.attention = in.flag({"mid_block_add_attention"}, true);
  const std::string item = "image of " + pixels_of(net.image, 1);
  const std::string title =
      std::to_string(net.latents) + " latent channels, " + std::to_string(net.channels.size()) + " resolutions";
  out.parts.push_back(encoder_of(in, net, "VAE encoder: " + title, item));
  out.parts.push_back(decoder_of(in, net, "VAE decoder: " + title, item));
}

void read_autoencoder_tiny(Fields& in, Network& out) {
  const std::vector<std::int64_t> down = level_widths(in, "encoder_block_out_channels", {64, 64, 64, 64});
  const std::vector<std::int64_t> up = level_widths(in, "decoder_block_out_channels", {64, 64, 64, 64});
  if (down.empty() || up.empty()) return;
  if (!in.has({"num_encoder_blocks"})) in.missing("num_encoder_blocks");
  if (!in.has({"num_decoder_blocks"})) in.missing("num_decoder_blocks");
  const std::vector<std::int64_t> down_blocks = per_level(in, "num_encoder_blocks", down.size(), 1, kMostLayers);
  const std::vector<std::int64_t> up_blocks = per_level(in, "num_decoder_blocks", up.size(), 1, kMostLayers);
  const std::int64_t latents = width_of(in, "latent_channels", 4);
  const LatentSize image = latent_size(in, "sample_size", kImageSide);
  const std::string item = "image of " + pixels_of(image, 1);

  PartBuilder encoder("encoder", "small VAE encoder", item);
  double p = image.area();
  for (std::size_t i = 0; i < down.size(); ++i) {
    const std::string name = "down_" + std::to_string(i);
    if (i > 0) p /= 4;
    encoder.conv(name + ".input", down[i], i == 0 ? width_of(in, "in_channels", 3) : down[i], kKernel,
                 {.bias = i == 0, .uses = p});
    add_tiny_blocks(encoder, name, down_blocks[i], down[i], p);
  }
  encoder.conv("output", latents, down.back(), kKernel, {.uses = p});
  out.parts.push_back(encoder.take());

  PartBuilder decoder("decoder", "small VAE decoder", item);
  p = image.area();
  for (std::size_t i = 1; i < up.size(); ++i) p /= 4;
  decoder.conv("input", up[0], latents, kKernel, {.uses = p});
  for (std::size_t i = 0; i < up.size(); ++i) {
    const std::string name = "up_" + std::to_string(i);
    const bool last = i + 1 == up.size();
    add_tiny_blocks(decoder, name, up_blocks[i], up[i], p);
    if (!last) p *= 4;
    decoder.conv(name + ".output", last ? width_of(in, "out_channels", 3) : up[i], up[i], kKernel,
                 {.bias = last, .uses = p});
  }
  out.parts.push_back(decoder.take());
}

}  // namespace gpuplan
