/// Speech from phonemes in the style of a reference: a shared-layer text transformer, recurrent predictors of
/// lengths, pitch and energy, and a generator that ends in an inverse Fourier transform. Shapes: `models.py` and
/// `istftnet.py` of the published implementation, the small form without a diffusion model for styles.

#include "../vision/vision.hpp"
#include "speech.hpp"

#include <string>

namespace gpuplan {
namespace {

constexpr double kSamples = 24000;  // a second; the generator is written for that rate
constexpr std::int64_t kMostWidth = 100000;
constexpr std::int64_t kMostKernel = 10000;

/// Blocks whose norms take scale and shift from a style.
class Styled {
 public:
  Styled(PartBuilder& part, std::int64_t style) : part_(part), style_(style) {}

  void norm(const std::string& name, std::int64_t width, std::int64_t count = 1) {
    part_.linear(name + "_style", 2 * width, style_, {.count = count, .uses = 1});
  }
  /// Two kernels of three; `upsamples`: at half the positions before.
  void block(const std::string& name, std::int64_t outputs, std::int64_t inputs, double positions,
             bool upsamples = false) {
    add_time_conv(part_, name + ".conv1", outputs, inputs, {.kernel = 3, .uses = positions});
    add_time_conv(part_, name + ".conv2", outputs, outputs, {.kernel = 3, .uses = positions});
    norm(name + ".norm1", inputs);
    norm(name + ".norm2", outputs);
    if (inputs != outputs)
      add_time_conv(part_, name + ".shortcut", outputs, inputs, {.bias = false, .uses = positions});
    if (!upsamples) return;
    part_.conv(name + ".upsample", inputs, inputs, 3, {.groups = inputs, .uses = positions / 2});
    part_.vector(name + ".upsample_length", TensorRole::norm, inputs);
  }
  /// Pairs of kernels with an activation that learns its frequency.
  void snake_block(const std::string& name, std::int64_t channels, const VocoderBlock& shape, double positions) {
    part_.layers(
        2 * shape.pairs,
        [&](PartBuilder& layer) {
          add_time_conv(layer, "conv", channels, channels, {.kernel = shape.kernel, .uses = positions});
          layer.linear("norm_style", 2 * channels, style_, {.uses = 1});
          layer.vector("frequency", TensorRole::norm, channels);
        },
        name);
  }

 private:
  PartBuilder& part_;
  std::int64_t style_;
};

struct Shape {
  std::int64_t width = 512;
  std::int64_t style = 128;
  std::int64_t tokens = 178;
  std::int64_t layers = 3;
  std::int64_t spectrum = 20;  // points of the Fourier transform
  double frames = 40;          // a second
  Vocoder generator;
};

/// One layer, run many times; embeddings narrower than the layer.
void add_phoneme_encoder(Fields in, Network& out, const Shape& s) {
  constexpr std::int64_t narrow = 128;  // AlbertConfig
  const std::int64_t width = bounded_count(in, "hidden_size", 768, kMostWidth);
  const std::int64_t mlp = bounded_count(in, "intermediate_size", 2048, kMostWidth);
  const std::int64_t heads = bounded_count(in, "num_attention_heads", 12, kMostWidth);
  const std::int64_t runs = in.count_or({"num_hidden_layers"}, 12);
  const auto uses = static_cast<double>(runs);
  PartBuilder part("phoneme_encoder",
                   "one layer, run " + std::to_string(runs) + " times, width " + std::to_string(width), "token");
  part.table("embedding", s.tokens, narrow);
  part.table("positions", in.count_or({"max_position_embeddings"}, 512), narrow, TensorRole::position);
  part.table("types", 2, narrow, TensorRole::position);
  part.norm("embedding_norm", narrow);
  part.linear("widen", width, narrow);
  part.linear("attention.qkvo", width, width, {.count = 4, .role = TensorRole::attention, .uses = uses});
  part.linear("mlp.up", mlp, width, {.role = TensorRole::mlp, .uses = uses});
  part.linear("mlp.down", width, mlp, {.role = TensorRole::mlp, .uses = uses});
  part.norm("norm", width, 2);
  part.linear("pooler", width, width, {.uses = 0});
  part.part().attention.push_back({runs, heads, std::max<std::int64_t>(1, width / heads), 1, 0});
  part.linear("narrow", s.width, width);
  out.parts.push_back(part.take());
}

void add_text_encoder(Fields& in, Network& out, const Shape& s) {
  const std::int64_t kernel = bounded_count(in, "text_encoder_kernel_size", 5, kMostKernel);
  PartBuilder part("text_encoder", std::to_string(s.layers) + " convolutions and an LSTM", "token");
  part.table("embedding", s.tokens, s.width);
  part.layers(s.layers, [&](PartBuilder& layer) {
    add_time_conv(layer, "conv", s.width, s.width, {.kernel = kernel});
    layer.norm("norm", s.width);
  });
  add_recurrent_pair(part, "lstm", s.width, s.width);
  out.parts.push_back(part.take());
}

void add_duration_predictor(Fields& in, Network& out, const Shape& s) {
  PartBuilder part("duration_predictor", "lengths of the sounds", "token");
  part.layers(s.layers, [&](PartBuilder& layer) {
    add_recurrent_pair(layer, "lstm", s.width, s.width + s.style);
    Styled(layer, s.style).norm("norm", s.width);
  });
  add_recurrent_pair(part, "lstm", s.width, s.width + s.style);
  part.linear("duration", in.count_or({"max_dur"}, 50), s.width);
  out.parts.push_back(part.take());
}

/// Pitch and energy: at the frames, then at twice as many.
void add_prosody_predictor(Network& out, const Shape& s) {
  const std::int64_t half = std::max<std::int64_t>(1, s.width / 2);
  PartBuilder part("prosody_predictor", "pitch and energy", std::string(kSecond), s.frames);
  add_recurrent_pair(part, "lstm", s.width, s.width + s.style);
  Styled styled(part, s.style);
  for (const std::string curve : {"pitch", "energy"}) {
    styled.block(curve + ".block1", s.width, s.width, s.frames);
    styled.block(curve + ".block2", half, s.width, 2 * s.frames, true);
    styled.block(curve + ".block3", half, half, 2 * s.frames);
    part.conv(curve + ".project", 1, half, 1, {.uses = 2 * s.frames});
  }
  out.parts.push_back(part.take());
}

/// What the sines of the pitch add at each resolution.
void add_source(PartBuilder& part, Styled& styled, const Shape& s, std::size_t stage, std::int64_t channels,
                double frames) {
  const std::vector<std::int64_t>& rates = s.generator.rates;
  double left = 1;
  for (std::size_t i = stage + 1; i < rates.size(); ++i) left *= static_cast<double>(rates[i]);
  const bool last = stage + 1 == rates.size();
  const std::int64_t kernel = last ? 1 : 2 * static_cast<std::int64_t>(std::min<double>(left, kMostKernel));
  const std::string name = "stage" + std::to_string(stage + 1) + ".source";
  part.conv(name, channels, s.spectrum + 2, kernel, {.uses = frames});
  styled.snake_block(name + "_block", channels, {last ? 11 : 7, 3}, frames);
}

void add_generator(PartBuilder& part, Styled& styled, const Shape& s, double frames) {
  constexpr std::int64_t harmonics = 9;
  part.linear("source", 1, harmonics, {.uses = kSamples});
  std::int64_t channels = s.generator.channels;
  for (std::size_t i = 0; i < s.generator.rates.size(); ++i) {
    const std::string stage = "stage" + std::to_string(i + 1);
    const std::int64_t narrower = std::max<std::int64_t>(1, channels / 2);
    add_transposed_conv(part, stage + ".upsample", narrower, channels,
                        {.kernel = s.generator.kernels[i], .uses = frames});
    channels = narrower;
    frames *= static_cast<double>(s.generator.rates[i]);
    for (const VocoderBlock& block : s.generator.blocks)
      styled.snake_block(stage + ".block" + std::to_string(block.kernel), channels, block, frames);
    add_source(part, styled, s, i, channels, frames);
  }
  add_time_conv(part, "last", s.spectrum + 2, channels, {.kernel = 7, .uses = frames});
}

void add_decoder(Network& out, const Shape& s) {
  constexpr std::int64_t wide = 1024;
  constexpr std::int64_t residual = 64;
  constexpr std::int64_t curves = 2;
  constexpr std::int64_t narrow = 512;
  PartBuilder part("decoder", "generator with an inverse Fourier transform", std::string(kSecond), s.frames);
  Styled styled(part, s.style);
  styled.block("encode", wide, s.width + curves, s.frames);
  for (int i = 1; i <= 3; ++i) styled.block("decode" + std::to_string(i), wide, wide + curves + residual, s.frames);
  styled.block("decode4", narrow, wide + curves + residual, 2 * s.frames, true);
  part.layers(
      curves, [](PartBuilder& layer) { add_time_conv(layer, "conv", 1, 1, {.kernel = 3}); }, "curves");
  add_time_conv(part, "text_residual", residual, narrow, {});
  add_generator(part, styled, s, 2 * s.frames);
  out.parts.push_back(part.take());
}

}  // namespace

void read_styletts2(Fields& in, Network& out) {
  Shape s;
  const Node* generator = in.find({"istftnet"});
  const Node* phonemes = in.find({"plbert"});
  if (!generator) in.missing("istftnet");
  if (!phonemes) in.missing("plbert");
  if (!generator || !phonemes) return;
  Fields inner = in.inside(*generator);
  if (!read_vocoder(inner, s.generator)) return;
  s.spectrum = bounded_count(inner, "gen_istft_n_fft", s.spectrum, kMostWidth);
  s.width = bounded_count(in, "hidden_dim", s.width, kMostWidth);
  s.style = bounded_count(in, "style_dim", s.style, kMostWidth);
  s.tokens = in.count_or({"n_token"}, s.tokens);
  s.layers = in.count_or({"n_layer"}, s.layers);
  const auto hop = static_cast<double>(inner.count_or({"gen_istft_hop_size"}, 5));
  s.frames = kSamples / (2 * s.generator.samples_per_frame() * hop);
  add_phoneme_encoder(in.inside(*phonemes), out, s);
  add_text_encoder(in, out, s);
  add_duration_predictor(in, out, s);
  add_prosody_predictor(out, s);
  add_decoder(out, s);
}

}  // namespace gpuplan
