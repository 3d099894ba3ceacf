/// Speech by flow matching: a diffusion transformer over spectrogram frames, beside text that convolutions have read.
/// Shapes: `dit.py` and `modules.py` of the published implementation; keys: its training configurations, where
/// `model.arch` holds the sizes.

#include "../vision/vision.hpp"
#include "speech.hpp"

#include <string>

namespace gpuplan {
namespace {

constexpr double kSeconds = 10;
constexpr std::int64_t kMostWidth = 100000;
constexpr std::int64_t kFrequencies = 256;  // of the step's embedding

struct Shape {
  std::int64_t width = 0;
  std::int64_t depth = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 64;
  std::int64_t ff_mult = 4;
  std::int64_t text_width = 0;
  std::int64_t text_layers = 0;
  std::int64_t mels = 100;
  bool qk_norm = false;
  bool long_skip = false;
  double frames = 0;
};

void add_text_encoder(Fields& in, Network& out, const Shape& s) {
  const std::int64_t mlp = 2 * s.text_width;
  PartBuilder part("text_encoder",
                   std::to_string(s.text_layers) + " convolutional blocks, width " + std::to_string(s.text_width),
                   "10 s of audio", s.frames);
  part.table("embedding", in.count({"vocab_size", "text_num_embeds"}) + 1, s.text_width);  // and a filler
  part.layers(s.text_layers, [&](PartBuilder& layer) {
    layer.conv("depthwise", s.text_width, s.text_width, 7, {.groups = s.text_width});
    layer.norm("norm", s.text_width);
    layer.linear("mlp.up", mlp, s.text_width, {.role = TensorRole::mlp});
    layer.norm("response_norm", mlp);
    layer.linear("mlp.down", s.text_width, mlp, {.role = TensorRole::mlp});
  });
  out.parts.push_back(part.take());
}

void add_block(PartBuilder& part, const Shape& s) {
  const std::int64_t inner = s.heads * s.head_dim;
  const std::int64_t mlp = s.ff_mult * s.width;
  part.linear("modulation", 6 * s.width, s.width, {.uses = 1});
  part.linear("attention.qkv", inner, s.width, {.count = 3, .role = TensorRole::attention});
  part.linear("attention.output", s.width, inner, {.role = TensorRole::attention});
  if (s.qk_norm) part.norm("attention.qk_norm", s.head_dim, 2, false);
  part.linear("mlp.up", mlp, s.width, {.role = TensorRole::mlp});
  part.linear("mlp.down", s.width, mlp, {.role = TensorRole::mlp});
  part.attend(s.heads, s.head_dim, part.positions(), part.positions());
}

void add_transformer(Network& out, const Shape& s) {
  constexpr std::int64_t kernel = 31;
  constexpr std::int64_t groups = 16;
  PartBuilder part("transformer", std::to_string(s.depth) + " layers, width " + std::to_string(s.width),
                   "step over 10 s of audio", s.frames);
  part.linear("time.up", s.width, kFrequencies, {.uses = 1});
  part.linear("time.down", s.width, s.width, {.uses = 1});
  part.linear("input", s.width, 2 * s.mels + s.text_width);  // noise, what is given, and the text
  for (const char* name : {"positions.conv1", "positions.conv2"})
    part.conv(name, s.width, s.width, kernel, {.groups = groups});
  part.layers(s.depth, [&](PartBuilder& layer) { add_block(layer, s); });
  if (s.long_skip) part.linear("long_skip", s.width, 2 * s.width, {.bias = false});
  part.linear("modulation", 2 * s.width, s.width, {.uses = 1});
  part.linear("output", s.mels, s.width);
  out.parts.push_back(part.take());
}

/// The mapping under `key`, else what it would stand in.
Fields inside_or_here(const Fields& in, std::string_view key) {
  const Node* node = in.find({key});
  return node && node->kind == Node::Kind::mapping ? in.inside(*node) : in;
}

}  // namespace

void read_f5_tts(Fields& in, Network& out) {
  const Fields model = inside_or_here(in, "model");
  Fields arch = inside_or_here(model, "arch");
  Fields mel = inside_or_here(model, "mel_spec");
  const std::string backbone = model.text({"backbone"});
  if (!backbone.empty() && backbone != "DiT") in.unreadable("a speech network with backbone '" + backbone + "'");
  Shape s;
  s.width = std::min(arch.count({"dim"}), kMostWidth);
  s.depth = arch.count({"depth"});
  s.heads = bounded_count(arch, "heads", 8, kMostWidth);
  s.head_dim = bounded_count(arch, "dim_head", s.head_dim, kMostWidth);
  s.ff_mult = bounded_count(arch, "ff_mult", s.ff_mult, 1000);
  s.mels = bounded_count(mel, "n_mel_channels", s.mels, kMostWidth);
  s.text_width = bounded_count(arch, "text_dim", s.mels, kMostWidth);
  s.text_layers = arch.amount_or({"conv_layers"}, 0);
  s.qk_norm = arch.has({"qk_norm"});
  s.long_skip = arch.flag({"long_skip_connection"}, false);
  s.frames = kSeconds * static_cast<double>(mel.count_or({"target_sample_rate"}, 24000)) /
             static_cast<double>(mel.count_or({"hop_length"}, 256));
  add_text_encoder(in, out, s);
  add_transformer(out, s);
  const std::string vocoder = mel.text({"mel_spec_type"});
  in.not_modelled("the vocoder" + (vocoder.empty() ? "" : " '" + vocoder + "'") + ", a network of its own");
}

}  // namespace gpuplan
