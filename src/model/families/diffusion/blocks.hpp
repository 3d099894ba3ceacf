#pragma once
/// What the components of diffusion pipelines share: bounded looks into their configurations, and the modules that most of them
/// are built of. Names and order follow the `diffusers` library's modules.

#include "../fields.hpp"
#include "../part_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

inline constexpr std::int64_t kMostWidth = 65536;      ///< channels, heads, sizes: products of four stay inside 64 bits
inline constexpr std::int64_t kMostLayers = 1000;      ///< of one kind
inline constexpr std::size_t kMostLevels = 16;         ///< resolutions of a convolutional network
inline constexpr std::int64_t kTimeFrequencies = 256;  ///< sines and cosines a time step is told with

/// A count of channels or of layers; required when there is no `otherwise` (0).
inline std::int64_t width_of(Fields& in, std::string_view key, std::int64_t otherwise = 0) {
  return bounded_count(in, key, otherwise, kMostWidth);
}
inline std::int64_t layer_count(Fields& in, std::string_view key, std::int64_t otherwise = 0) {
  return bounded_count(in, key, otherwise, kMostLayers);
}

/// A list of widths, one a resolution; empty (and missing or wrong) when there is none that can be.
std::vector<std::int64_t> level_widths(Fields& in, std::string_view key,
                                       const std::vector<std::int64_t>& otherwise = {});
/// One number for all levels, or a list of one each, from `least` on.
std::vector<std::int64_t> per_level(Fields& in, std::string_view key, std::size_t count, std::int64_t otherwise,
                                    std::int64_t most, std::int64_t least = 1);
/// A list of true and false of at least `count` members.
std::vector<bool> level_flags(Fields& in, std::string_view key, std::size_t count, const std::vector<bool>& otherwise);
/// A factor such as 2.5.
double factor_of(Fields& in, std::string_view key, double otherwise);
/// `values` of a member that is one text for all levels or a list of one each.
std::vector<std::string> level_words(Fields& in, std::string_view key, std::size_t count, std::string_view otherwise);

/// Width and height of latents: one number, or a list of height and width.
struct LatentSize {
  double width = 0;
  double height = 0;
  [[nodiscard]] double area() const { return width * height; }
};
LatentSize latent_size(Fields& in, std::string_view key, std::int64_t otherwise = 0);

/// `1024 x 1024`, of latents that stand for `factor` x `factor` pixels each.
std::string pixels_of(const LatentSize& latents, double factor);
std::string whole_text(double whole);

/// A position table that checkpoints store and no optimizer trains: it is no parameter, so no tensor of ours.
void note_position_table(Fields& in, double values);

/// Two matrices with an activation between them, `inputs` to `width` to `width`, as time steps and captions are embedded.
void add_embedder(PartBuilder& b, std::string_view name, std::int64_t inputs, std::int64_t width, double uses = 1);

void add_mlp(PartBuilder& b, std::string_view name, std::int64_t width, std::int64_t hidden, double uses);

struct AttentionProjections {
  std::int64_t width = 0;    ///< of what asks and gets the answer
  std::int64_t inner = 0;    ///< heads x head width
  std::int64_t sources = 0;  ///< width of what is attended to
  double queries = 1;
  double keys = 1;
  bool bias = true;
  bool output_bias = true;
};
/// Query, key, value and output projections.
void add_attention(PartBuilder& b, std::string_view name, const AttentionProjections& p);

/// Image and text tokens that attend to each other.
struct JointStreams {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t hidden = 0;  ///< of the MLPs
  double image = 0;
  double text = 0;
  [[nodiscard]] std::int64_t width() const { return heads * head_dim; }
  [[nodiscard]] double all() const { return image + text; }
};
/// Of a transformer over the 1024 x 1024 pixels and 512 text tokens that are its pipeline's own, where its config says no size.
JointStreams joint_streams_of(Fields& in);
/// A part for one step of it.
PartBuilder joint_transformer(const JointStreams& s, const std::string& blocks);
/// A block with weights of their own for image and text.
void add_double_block(PartBuilder& b, const JointStreams& s);
/// A block with the same weights for both, attention and MLP side by side.
void add_single_block(PartBuilder& b, const JointStreams& s);
/// The modulated norm at the end and the projection of image tokens to patches.
void add_output_patches(PartBuilder& b, std::int64_t width, std::int64_t outputs, double image);

struct ResnetShape {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  double positions = 1;
  std::int64_t kernel = 9;        ///< positions of the two kernels: 9 of 3 x 3, 27 of 3 x 3 x 3
  std::int64_t time = 0;          ///< width of the time step's embedding; 0: none
  std::int64_t time_outputs = 1;  ///< times `outputs`: 2 of a scale and a shift
};
void add_resnet(PartBuilder& b, std::string_view name, const ResnetShape& r);

/// `count` resnets, of which the first changes the width.
void add_resnets(PartBuilder& b, std::string_view name, std::int64_t count, ResnetShape r);

}  // namespace gpuplan
