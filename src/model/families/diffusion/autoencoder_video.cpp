/// Autoencoders of video: AutoencoderKLHunyuanVideo and AutoencoderKLCogVideoX. Source: the classes of these names in the
/// `diffusers` library.

#include "../family.hpp"
#include "autoencoder.hpp"

namespace gpuplan {
namespace {

constexpr std::int64_t kKernel = 27;        // 3 x 3 x 3
constexpr std::int64_t kImageKernel = 9;    // frame by frame
constexpr double kTileFrames = 16;          // long videos go through in tiles of so many frames
constexpr Clip kLargeClip{1280, 720, 129};  // the pipeline's own, where the config says none
constexpr double kShortFrames = 49;

struct Video {
  std::vector<std::int64_t> channels;
  std::vector<Clip> clips;     // on the way down
  std::vector<Clip> up_clips;  // before each block on the way up, and at the end
  std::int64_t latents = 16;
  std::int64_t layers = 1;
  bool attention = true;

  [[nodiscard]] std::size_t last() const { return channels.size() - 1; }
  [[nodiscard]] double positions(std::size_t level) const { return clips[level].positions(); }
  [[nodiscard]] std::string title() const { return std::to_string(latents) + " latent channels"; }
};

/// How often 2 goes into a compression: 0 of 1, 2 of 4.
std::size_t halvings(std::int64_t compression) {
  std::size_t out = 0;
  for (; compression > 1; compression /= 2) ++out;
  return out;
}

/// The middle's attention, over the frames of a tile.
void add_middle(PartBuilder& b, const Video& v, double compression) {
  const std::int64_t c = v.channels.back();
  const Clip& clip = v.clips.back();
  const double p = clip.positions();
  b.layers(
      2,
      [&](PartBuilder& r) { add_resnet(r, "resnet", {.inputs = c, .outputs = c, .positions = p, .kernel = kKernel}); },
      "middle");
  const double tile = clip.width * clip.height * kTileFrames / compression;
  if (v.attention) add_middle_attention(b, "middle.attention", c, p, tile < p ? tile : p);
}

/// Block by block, the way up doubles what the way down halves: both do it in their own first (or last) blocks, so that the
/// resolutions in between are not the same.
void add_up_clips(Video& v, const std::vector<bool>& space, const std::vector<bool>& time) {
  v.up_clips = {v.clips.back()};
  for (std::size_t i = 0; i < space.size(); ++i) v.up_clips.push_back(v.up_clips.back().doubled(space[i], time[i]));
}

/// Space shrinks after the first blocks, time after the last ones but one.
Video read_large_video(Fields& in, std::int64_t time_compression) {
  Video v;
  v.channels = level_widths(in, "block_out_channels", {128, 256, 512, 512});
  if (v.channels.empty()) return v;
  const std::size_t n = v.channels.size();
  const std::size_t space = halvings(width_of(in, "spatial_compression_ratio", 8));
  const std::size_t time = halvings(time_compression);
  std::vector<bool> shrinks_space(n);
  std::vector<bool> shrinks_time(n);
  for (std::size_t i = 0; i < n; ++i) {
    shrinks_space[i] = i < space;
    shrinks_time[i] = i + 1 < n && i + 1 + time >= n;
  }
  v.clips = clip_resolutions(kLargeClip, n + 1, shrinks_space, shrinks_time);
  add_up_clips(v, shrinks_space, shrinks_time);
  v.latents = width_of(in, "latent_channels", 16);
  v.layers = layer_count(in, "layers_per_block", 2);
  v.attention = in.flag({"mid_block_add_attention"}, true);
  return v;
}

bool shrinks(const Video& v, std::size_t level) { return v.positions(level + 1) < v.positions(level); }

NetworkPart large_encoder(const Video& v, std::int64_t inputs, double compression, const std::string& item) {
  PartBuilder b("encoder", "video VAE encoder: " + v.title(), item);
  b.conv("input", v.channels[0], inputs, kKernel, {.uses = v.positions(0)});
  std::int64_t c = v.channels[0];
  for (std::size_t i = 0; i <= v.last(); ++i) {
    const std::string name = "down_" + std::to_string(i);
    add_resnets(b, name, v.layers,
                {.inputs = c, .outputs = v.channels[i], .positions = v.positions(i), .kernel = kKernel});
    c = v.channels[i];
    if (shrinks(v, i)) b.conv(name + ".downsample", c, c, kKernel, {.uses = v.positions(i + 1)});
  }
  add_middle(b, v, compression);
  const double p = v.clips.back().positions();
  b.norm("output_norm", c);
  b.conv("output", 2 * v.latents, c, kKernel, {.uses = p});
  b.conv("quantization", 2 * v.latents, 2 * v.latents, 1, {.uses = p});
  return b.take();
}

NetworkPart large_decoder(const Video& v, std::int64_t outputs, double compression, const std::string& item) {
  PartBuilder b("decoder", "video VAE decoder: " + v.title(), item);
  const double p = v.clips.back().positions();
  b.conv("quantization", v.latents, v.latents, 1, {.uses = p});
  std::int64_t c = v.channels.back();
  b.conv("input", c, v.latents, kKernel, {.uses = p});
  add_middle(b, v, compression);
  for (std::size_t i = v.last() + 1; i-- > 0;) {
    const std::size_t step = v.last() - i;
    const std::string name = "up_" + std::to_string(step);
    add_resnets(b, name, v.layers + 1,
                {.inputs = c, .outputs = v.channels[i], .positions = v.up_clips[step].positions(), .kernel = kKernel});
    c = v.channels[i];
    if (shrinks(v, step)) b.conv(name + ".upsample", c, c, kKernel, {.uses = v.up_clips[step + 1].positions()});
  }
  b.norm("output_norm", c);
  b.conv("output", outputs, c, kKernel, {.uses = v.up_clips.back().positions()});
  return b.take();
}

/// A norm whose scale and shift are convolutions of the latents.
void add_latent_norm(PartBuilder& b, const std::string& name, std::int64_t c, std::int64_t latents, double p) {
  b.norm(name, c);
  b.conv(name + ".modulation", c, latents, 1, {.count = 2, .uses = p});
}

struct LatentResnet {
  std::int64_t inputs = 1;
  std::int64_t outputs = 1;
  std::int64_t latents = 1;
  double positions = 1;
};
void add_latent_resnet(PartBuilder& b, const std::string& name, const LatentResnet& r) {
  add_latent_norm(b, name + ".norm_1", r.inputs, r.latents, r.positions);
  b.conv(name + ".conv_1", r.outputs, r.inputs, kKernel, {.uses = r.positions});
  add_latent_norm(b, name + ".norm_2", r.outputs, r.latents, r.positions);
  b.conv(name + ".conv_2", r.outputs, r.outputs, kKernel, {.uses = r.positions});
  if (r.inputs != r.outputs) b.conv(name + ".shortcut", r.outputs, r.inputs, 1, {.uses = r.positions});
}

NetworkPart latent_normed_encoder(const Video& v, std::int64_t inputs, const std::string& item) {
  PartBuilder b("encoder", "video VAE encoder: " + v.title(), item);
  b.conv("input", v.channels[0], inputs, kKernel, {.uses = v.positions(0)});
  std::int64_t c = v.channels[0];
  for (std::size_t i = 0; i <= v.last(); ++i) {
    const std::string name = "down_" + std::to_string(i);
    add_resnets(b, name, v.layers,
                {.inputs = c, .outputs = v.channels[i], .positions = v.positions(i), .kernel = kKernel});
    c = v.channels[i];
    if (i < v.last()) b.conv(name + ".downsample", c, c, kImageKernel, {.uses = v.positions(i + 1)});
  }
  add_middle(b, v, 1);
  b.norm("output_norm", c);
  b.conv("output", 2 * v.latents, c, kKernel, {.uses = v.positions(v.last())});
  return b.take();
}

NetworkPart latent_normed_decoder(const Video& v, std::int64_t outputs, const std::string& item) {
  PartBuilder b("decoder", "video VAE decoder: " + v.title(), item);
  double p = v.positions(v.last());
  std::int64_t c = v.channels.back();
  b.conv("input", c, v.latents, kKernel, {.uses = p});
  b.layers(
      2,
      [&](PartBuilder& r) {
        add_latent_resnet(r, "resnet", {c, c, v.latents, p});
      },
      "middle");
  for (std::size_t i = v.last() + 1; i-- > 0;) {
    const std::size_t step = v.last() - i;
    const std::string name = "up_" + std::to_string(step);
    const std::int64_t outer = v.channels[i];
    p = v.up_clips[step].positions();
    add_latent_resnet(b, name, {c, outer, v.latents, p});
    c = outer;
    b.layers(
        v.layers,
        [&](PartBuilder& r) {
          add_latent_resnet(r, "resnet", {c, c, v.latents, p});
        },
        name);
    if (i > 0) b.conv(name + ".upsample", c, c, kImageKernel, {.uses = v.up_clips[step + 1].positions()});
  }
  add_latent_norm(b, "output_norm", c, v.latents, p);
  b.conv("output", outputs, c, kKernel, {.uses = p});
  return b.take();
}

}  // namespace

void read_hunyuan_video_autoencoder(Fields& in, Network& out) {
  const std::int64_t compression = width_of(in, "temporal_compression_ratio", 4);
  if (compression != 4)
    in.unreadable("a video autoencoder that compresses time " + std::to_string(compression) + " to 1");
  const Video v = read_large_video(in, compression);
  if (v.channels.empty()) return;
  const auto ratio = static_cast<double>(compression);
  const std::string item = "video of " + to_string(kLargeClip);
  out.parts.push_back(large_encoder(v, width_of(in, "in_channels", 3), ratio, item));
  out.parts.push_back(large_decoder(v, width_of(in, "out_channels", 3), ratio, item));
}

void read_cogvideox_autoencoder(Fields& in, Network& out) {
  if (in.flag({"use_quant_conv"}, false) || in.flag({"use_post_quant_conv"}, false)) {
    in.unreadable("a video autoencoder with convolutions around its latents");
  }
  Video v;
  v.channels = level_widths(in, "block_out_channels", {128, 256, 256, 512});
  if (v.channels.empty()) return;
  const std::size_t time = halvings(width_of(in, "temporal_compression_ratio", 4));
  const std::size_t n = v.channels.size();
  std::vector<bool> shrinks_space(n, true);
  std::vector<bool> shrinks_time(n);
  for (std::size_t i = 0; i < n; ++i) shrinks_time[i] = i < time;
  shrinks_space.back() = false;
  shrinks_time.back() = false;
  const Clip clip{static_cast<double>(width_of(in, "sample_width", 720)),
                  static_cast<double>(width_of(in, "sample_height", 480)), kShortFrames};
  v.clips = clip_resolutions(clip, n, shrinks_space, shrinks_time);
  add_up_clips(v, shrinks_space, shrinks_time);
  v.latents = width_of(in, "latent_channels", 16);
  v.layers = layer_count(in, "layers_per_block", 3);
  v.attention = false;
  const std::string item = "video of " + to_string(clip);
  out.parts.push_back(latent_normed_encoder(v, width_of(in, "in_channels", 3), item));
  out.parts.push_back(latent_normed_decoder(v, width_of(in, "out_channels", 3), item));
}

}  // namespace gpuplan
