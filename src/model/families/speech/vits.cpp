/// Speech from text in one network: a text encoder, the lengths of the sounds, an invertible flow, a vocoder. Shapes:
/// transformers' VitsConfig and VitsModel.

#include "../vision/vision.hpp"
#include "speech.hpp"

#include <string>

namespace gpuplan {
namespace {

constexpr std::int64_t kMostWidth = 100000;
constexpr std::int64_t kMostKernel = 10000;

struct Shape {
  std::int64_t width = 192;
  std::int64_t flow = 192;  // of a frame's latents
  std::int64_t speaker = 0;
  std::int64_t wave_kernel = 5;
  double frames = 0;  // a second
};

/// Gated convolutions with a residual path and a path out.
void add_wave_layers(PartBuilder& part, const Shape& s, std::int64_t layers) {
  if (s.speaker > 0) add_time_conv(part, "wave.condition", 2 * s.width * layers, s.speaker, {.uses = 1});
  part.layers(
      layers,
      [&](PartBuilder& layer) { add_time_conv(layer, "gates", 2 * s.width, s.width, {.kernel = s.wave_kernel}); },
      "wave");
  part.layers(
      layers - 1, [&](PartBuilder& layer) { add_time_conv(layer, "paths", 2 * s.width, s.width, {}); }, "wave");
  add_time_conv(part, "wave.last", s.width, s.width, {});  // the last layer has no residual path
}

void add_text_encoder(Fields& in, Network& out, const Shape& s) {
  const std::int64_t heads = bounded_count(in, "num_attention_heads", 2, kMostWidth);
  const std::int64_t window = in.amount_or({"window_size"}, 4);
  const std::int64_t mlp = bounded_count(in, "ffn_dim", 768, kMostWidth * 10);
  const std::int64_t kernel = bounded_count(in, "ffn_kernel_size", 3, kMostKernel);
  const bool bias = in.flag({"use_bias"}, true);
  const std::int64_t head = std::max<std::int64_t>(1, s.width / heads);
  const std::int64_t layers = in.count_or({"num_hidden_layers"}, 6);
  PartBuilder part("text_encoder", std::to_string(layers) + " layers, width " + std::to_string(s.width), "token");
  part.table("embedding", in.count_or({"vocab_size"}, 38), s.width);
  part.layers(layers, [&](PartBuilder& layer) {
    layer.linear("attention.qkvo", s.width, s.width, {.count = 4, .bias = bias, .role = TensorRole::attention});
    for (const char* side : {"keys", "values"}) {
      if (window > 0)
        layer.table(std::string("attention.relative_") + side, 2 * window + 1, head, TensorRole::position);
    }
    layer.norm("norm", s.width, 2);
    layer.conv("mlp.up", mlp, s.width, kernel);
    layer.conv("mlp.down", s.width, mlp, kernel);
    layer.attend(heads, head, 1, 0);
  });
  part.conv("project", 2 * s.flow, s.width, 1);
  out.parts.push_back(part.take());
}

struct SeparableShape {
  std::int64_t layers = 3;
  std::int64_t kernel = 3;
  double uses = 1;
};

void add_separable(PartBuilder& part, const std::string& name, const Shape& s, const SeparableShape& d) {
  part.layers(
      d.layers,
      [&](PartBuilder& layer) {
        layer.conv("depthwise", s.width, s.width, d.kernel, {.groups = s.width, .uses = d.uses});
        layer.conv("pointwise", s.width, s.width, 1, {.uses = d.uses});
        layer.norm("norm", s.width, 2);
      },
      name);
}

/// One of the two equal halves: what the text says, and, in training only, what the audio says.
void add_duration_half(PartBuilder& part, const std::string& half, std::int64_t inputs, const Shape& s, Fields& in) {
  const ConvOptions once{.uses = half == "text" ? 1.0 : 0.0};
  const SeparableShape d{bounded_count(in, "depth_separable_num_layers", 3, kMostKernel),
                         bounded_count(in, "duration_predictor_kernel_size", 3, kMostKernel), once.uses};
  const std::int64_t channels = bounded_count(in, "depth_separable_channels", 2, kMostWidth);
  const std::int64_t through = std::max<std::int64_t>(1, channels / 2);
  const std::int64_t bins = bounded_count(in, "duration_predictor_flow_bins", 10, kMostKernel);
  part.conv(half + ".first", s.width, inputs, 1, once);
  part.conv(half + ".project", s.width, s.width, 1, once);
  add_separable(part, half + ".convolutions", s, d);
  part.vector(half + ".affine", TensorRole::bias, channels, 2);
  part.layers(
      in.count_or({"duration_predictor_num_flows"}, 4),
      [&](PartBuilder& flow) {
        flow.conv("first", s.width, through, 1, once);
        add_separable(flow, "convolutions", s, d);
        flow.conv("project", through * (3 * bins - 1), s.width, 1, once);
      },
      half + ".flows");
}

void add_duration_predictor(Fields& in, Network& out, const Shape& s) {
  PartBuilder part("duration_predictor", "lengths of the sounds", "token");
  if (in.flag({"use_stochastic_duration_prediction"}, true)) {
    add_duration_half(part, "text", s.width, s, in);
    add_duration_half(part, "audio", 1, s, in);
  } else {
    const std::int64_t width = bounded_count(in, "duration_predictor_filter_channels", 256, kMostWidth);
    const std::int64_t kernel = bounded_count(in, "duration_predictor_kernel_size", 3, kMostKernel);
    part.conv("conv1", width, s.width, kernel);
    part.conv("conv2", width, width, kernel);
    part.norm("norm", width, 2);
    part.conv("project", 1, width, 1);
  }
  if (s.speaker > 0) part.conv("condition", s.width, s.speaker, 1, {.uses = 1});
  out.parts.push_back(part.take());
}

void add_flow(Fields& in, Network& out, const Shape& s) {
  const std::int64_t half = std::max<std::int64_t>(1, s.flow / 2);
  const std::int64_t flows = in.count_or({"prior_encoder_num_flows"}, 4);
  const std::int64_t layers = bounded_count(in, "prior_encoder_num_wavenet_layers", 4, kMostKernel);
  PartBuilder part("flow", std::to_string(flows) + " coupling layers", std::string(kSecond), s.frames);
  part.layers(
      flows,
      [&](PartBuilder& flow) {
        flow.conv("first", s.width, half, 1);
        add_wave_layers(flow, s, layers);
        flow.conv("last", half, s.width, 1);
      },
      "flows");
  out.parts.push_back(part.take());
}

/// Reads the audio that the network learns from: stored with the others, used in training only.
void add_posterior_encoder(Fields& in, Network& out, const Shape& s) {
  const std::int64_t layers = bounded_count(in, "posterior_encoder_num_wavenet_layers", 16, kMostKernel);
  PartBuilder part("posterior_encoder", "for training only", std::string(kSecond), 0);
  part.conv("first", s.width, bounded_count(in, "spectrogram_bins", 513, kMostWidth), 1);
  add_wave_layers(part, s, layers);
  part.conv("project", 2 * s.flow, s.width, 1);
  out.parts.push_back(part.take());
}

}  // namespace

void read_vits(Fields& in, Network& out) {
  Shape s;
  Vocoder vocoder;
  if (!read_vocoder(in, vocoder)) return;
  s.width = bounded_count(in, "hidden_size", s.width, kMostWidth);
  s.flow = bounded_count(in, "flow_size", s.flow, kMostWidth);
  s.speaker = in.amount_or({"speaker_embedding_size"}, 0);
  s.wave_kernel = bounded_count(in, "wavenet_kernel_size", s.wave_kernel, kMostKernel);
  s.frames = static_cast<double>(in.count_or({"sampling_rate"}, 16000)) / vocoder.samples_per_frame();
  vocoder.inputs = s.flow;
  vocoder.condition = s.speaker;
  vocoder.weight_norm = false;
  add_text_encoder(in, out, s);
  add_duration_predictor(in, out, s);
  add_flow(in, out, s);
  PartBuilder decoder("decoder", "vocoder", std::string(kSecond), s.frames);
  add_vocoder(decoder, vocoder, s.frames);
  const std::int64_t speakers = in.count_or({"num_speakers"}, 1);
  if (speakers > 1 && s.speaker > 0) decoder.table("speakers", speakers, s.speaker);
  out.parts.push_back(decoder.take());
  add_posterior_encoder(in, out, s);
}

}  // namespace gpuplan
