/// AutoencoderDC: residual blocks at fine resolutions, linear attention at coarse ones. Source: the class of this name in the
/// `diffusers` library.

#include "../family.hpp"
#include "autoencoder.hpp"

#include <algorithm>

namespace gpuplan {
namespace {

constexpr LatentSize kImage{1024, 1024};  // the config says none: of the pipelines that use it
constexpr std::int64_t kKernel = 9;
constexpr std::int64_t kShuffled = 4;  // twice the width and the height, shuffled out of the channels

struct Half {
  std::vector<std::int64_t> channels;
  std::vector<std::int64_t> layers;
  std::vector<bool> attends;
  std::vector<std::vector<std::int64_t>> scales;  // kernel sides of further queries, keys and values
  std::int64_t head_dim = 32;
  bool shuffles = false;

  [[nodiscard]] std::size_t last() const { return channels.size() - 1; }
  /// The finest level that has blocks; without any at the first, images are halved on the way in.
  [[nodiscard]] std::size_t first() const { return layers[0] > 0 || channels.size() == 1 ? 0 : 1; }
  [[nodiscard]] static double positions(std::size_t level) {
    double shrink = 1;
    for (std::size_t i = 0; i < level; ++i) shrink *= 4;
    return kImage.area() / shrink;
  }
};

/// Lists of kernel sides, one list a level.
std::vector<std::vector<std::int64_t>> read_scales(Fields& in, const std::string& key, std::size_t count) {
  std::vector<std::vector<std::int64_t>> out(count);
  const Node* node = in.find({key});
  if (!node) return out;
  bool good = node->kind == Node::Kind::sequence && node->items.size() == count;
  for (std::size_t i = 0; good && i < count; ++i) {
    good = node->items[i].kind == Node::Kind::sequence && node->items[i].items.size() <= kMostLevels;
    for (const Node& side : node->items[i].items) {
      const std::int64_t value = whole_number_of(&side).value_or(0);
      good = good && value >= 1 && value <= 63;
      out[i].push_back(value);
    }
  }
  if (good) return out;
  in.wrong(key, "'" + key + "' does not fit " + std::to_string(count) + " levels", "a list of kernel sides a level");
  return std::vector<std::vector<std::int64_t>>(count);
}

Half read_half(Fields& in, const std::string& side) {
  Half h;
  h.channels = level_widths(in, side + "_block_out_channels", {128, 256, 512, 512, 1024, 1024});
  if (h.channels.empty()) return h;
  const std::size_t n = h.channels.size();
  for (const char* key : {"_layers_per_block", "_qkv_multiscales"}) {
    if (!in.has({side + key})) in.missing(side + key);
  }
  h.layers = per_level(in, side + "_layers_per_block", n, 1, kMostLayers, 0);
  h.scales = read_scales(in, side + "_qkv_multiscales", n);
  h.head_dim = width_of(in, "attention_head_dim", 32);
  for (const std::string& type : level_words(in, side + "_block_types", n, "ResBlock")) {
    h.attends.push_back(type == "EfficientViTBlock");
    if (type != "EfficientViTBlock" && type != "ResBlock") {
      in.unreadable("an autoencoder with blocks of type '" + type + "'");
    }
  }
  return h;
}

void add_residual_block(PartBuilder& b, std::int64_t c, double p) {
  b.conv("conv_1", c, c, kKernel, {.uses = p});
  b.conv("conv_2", c, c, kKernel, {.bias = false, .uses = p});
  b.norm("norm", c);
}

void add_attending_block(PartBuilder& b, const Half& h, std::size_t level) {
  const std::int64_t c = h.channels[level];
  const double p = Half::positions(level);
  const std::int64_t heads = std::max<std::int64_t>(c / h.head_dim, 1);
  const std::int64_t inner = heads * h.head_dim;
  const auto groups = static_cast<std::int64_t>(h.scales[level].size()) + 1;
  LinearOptions o{.count = 3, .bias = false, .role = TensorRole::attention, .uses = p};
  b.linear("attention.qkv", inner, c, o);
  for (const std::int64_t side : h.scales[level]) {
    b.conv("attention.scale", 3 * inner, 3 * inner, side * side, {.bias = false, .groups = 3 * inner, .uses = p});
    b.conv("attention.scale_heads", 3 * inner, 3 * inner, 1, {.bias = false, .groups = 3 * heads, .uses = p});
  }
  o.count = 1;
  b.linear("attention.out", c, inner * groups, o);
  b.norm("attention.norm", c);
  // Keys meet values once, in a matrix of a head's width squared (and one sum): as if each query saw so many positions.
  b.attend(heads * groups, h.head_dim, p, static_cast<double>(h.head_dim + 1));
  const std::int64_t hidden = 4 * c;
  b.conv("mlp.up", 2 * hidden, c, 1, {.uses = p});
  b.conv("mlp.depth", 2 * hidden, 2 * hidden, kKernel, {.groups = 2 * hidden, .uses = p});
  b.conv("mlp.down", c, hidden, 1, {.bias = false, .uses = p});
  b.norm("mlp.norm", c);
}

void add_blocks(PartBuilder& b, const Half& h, std::size_t level, const std::string& name) {
  b.layers(
      h.layers[level],
      [&](PartBuilder& block) {
        if (h.attends[level]) {
          add_attending_block(block, h, level);
        } else {
          add_residual_block(block, h.channels[level], Half::positions(level));
        }
      },
      name);
}

/// Halves the sides: with a stride, or unshuffled from fewer channels at the full size.
void add_downsample(PartBuilder& b, const Half& h, const std::string& name, std::int64_t outputs, std::int64_t inputs,
                    std::size_t level) {
  if (h.shuffles) {
    b.conv(name, outputs / kShuffled, inputs, kKernel, {.uses = Half::positions(level)});
  } else {
    b.conv(name, outputs, inputs, kKernel, {.uses = Half::positions(level + 1)});
  }
}

void add_upsample(PartBuilder& b, const Half& h, const std::string& name, std::int64_t outputs, std::int64_t inputs,
                  std::size_t level) {
  if (h.shuffles) {
    b.conv(name, outputs * kShuffled, inputs, kKernel, {.uses = Half::positions(level + 1)});
  } else {
    b.conv(name, outputs, inputs, kKernel, {.uses = Half::positions(level)});
  }
}

NetworkPart encoder_of(Fields& in, const Half& h, std::int64_t latents, const std::string& item) {
  PartBuilder b("encoder", "VAE encoder: " + std::to_string(latents) + " latent channels", item);
  const std::int64_t images = width_of(in, "in_channels", 3);
  const std::size_t first = h.first();
  if (first == 0) {
    b.conv("input", h.channels[0], images, kKernel, {.uses = Half::positions(0)});
  } else {
    add_downsample(b, h, "input", h.channels[first], images, 0);
  }
  for (std::size_t i = 0; i <= h.last(); ++i) {
    const std::string name = "down_" + std::to_string(i);
    add_blocks(b, h, i, name);
    if (i < h.last() && h.layers[i] > 0) {
      add_downsample(b, h, name + ".downsample", h.channels[i + 1], h.channels[i], i);
    }
  }
  b.conv("output", latents, h.channels.back(), kKernel, {.uses = Half::positions(h.last())});
  return b.take();
}

NetworkPart decoder_of(Fields& in, const Half& h, std::int64_t latents, const std::string& item) {
  PartBuilder b("decoder", "VAE decoder: " + std::to_string(latents) + " latent channels", item);
  const std::int64_t images = width_of(in, "in_channels", 3);
  b.conv("input", h.channels.back(), latents, kKernel, {.uses = Half::positions(h.last())});
  for (std::size_t i = h.last() + 1; i-- > 0;) {
    const std::string name = "up_" + std::to_string(h.last() - i);
    if (i < h.last() && h.layers[i] > 0) {
      add_upsample(b, h, name + ".upsample", h.channels[i], h.channels[i + 1], i);
    }
    add_blocks(b, h, i, name);
  }
  const std::size_t first = h.first();
  b.norm("output_norm", h.channels[first]);
  if (first == 0) {
    b.conv("output", images, h.channels[0], kKernel, {.uses = Half::positions(0)});
  } else {
    add_upsample(b, h, "output", images, h.channels[first], 0);
  }
  return b.take();
}

}  // namespace

void read_autoencoder_dc(Fields& in, Network& out) {
  Half down = read_half(in, "encoder");
  Half up = read_half(in, "decoder");
  if (down.channels.empty() || up.channels.empty()) return;
  const std::string downsample = in.text({"downsample_block_type"});
  const std::string upsample = in.text({"upsample_block_type"});
  down.shuffles = downsample.empty() || downsample == "pixel_unshuffle";
  up.shuffles = upsample != "interpolate";
  const std::int64_t latents = width_of(in, "latent_channels", 32);
  const std::string item = "image of " + pixels_of(kImage, 1);
  out.parts.push_back(encoder_of(in, down, latents, item));
  out.parts.push_back(decoder_of(in, up, latents, item));
}

}  // namespace gpuplan
