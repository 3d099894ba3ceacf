/// Speech that a language model writes as audio tokens, in the voice of a reference: an encoder of the reference, the
/// language model, a vocoder over its hidden states, an encoder of the speaker. Shapes: `gpt.py`,
/// `latent_encoder.py`, `perceiver_encoder.py` and `hifigan_decoder.py` of the published implementation; keys: its
/// `model_args`.

#include "../decoders/common.hpp"
#include "../vision/vision.hpp"
#include "speech.hpp"

#include <array>
#include <string>

namespace gpuplan {
namespace {

constexpr std::int64_t kMostWidth = 100000;
constexpr double kReferenceSeconds = 4;  // read at a time
constexpr double kReferenceHop = 256;

/// Text and audio have tables of their own; audio tokens are what is generated.
Architecture language_model(Fields& args) {
  Architecture a;
  a.family = "xtts";
  set_gpt_style(a);
  a.layers = args.count_or({"gpt_layers"}, 30);
  a.hidden = args.count_or({"gpt_n_model_channels"}, 1024);
  a.heads = args.count_or({"gpt_n_heads"}, 16);
  a.kv_heads = a.heads;
  a.head_dim = std::max<std::int64_t>(1, a.hidden / a.heads);
  a.intermediate = 4 * a.hidden;
  a.vocab = args.count_or({"gpt_num_audio_tokens"}, 8194);
  a.head_bias = true;
  a.learned_positions = true;
  // Two tables: text between its two marks, and audio between its two with a place for the reference.
  a.max_position = args.count_or({"gpt_max_text_tokens"}, 402) + 2 + args.count_or({"gpt_max_audio_tokens"}, 605) + 3;
  const std::int64_t text = args.count({"gpt_number_text_tokens"});
  const auto other = [&](const char* name, TensorRole role, std::int64_t rows, std::int64_t columns) {
    TensorGroup group;
    group.name = name;
    group.role = role;
    group.rows = rows;
    group.columns = columns;
    group.uses = 0;  // looked up, or for training only
    a.others.push_back(group);
  };
  other("text_embedding", TensorRole::embedding, text, a.hidden);
  other("text_head", TensorRole::head, text, a.hidden);
  other("text_head_bias", TensorRole::bias, text, 1);
  other("norm_before_heads.weight", TensorRole::norm, a.hidden, 1);
  other("norm_before_heads.bias", TensorRole::norm, a.hidden, 1);
  return a;
}

/// Attention over the reference's spectrogram, then few latents that attend to it.
void add_reference_encoder(Network& out, const Architecture& a, double frames) {
  constexpr std::int64_t mels = 80;
  constexpr std::int64_t blocks = 6;
  constexpr std::int64_t latents = 32;
  constexpr std::int64_t heads = 8;
  constexpr std::int64_t head_dim = 64;
  const std::int64_t mlp = a.hidden * 4 * 2 / 3;
  PartBuilder part("reference_encoder", std::to_string(blocks) + " attention blocks and a resampler",
                   "4 s of reference", frames);
  part.conv("first", a.hidden, mels, 1);
  part.layers(blocks, [&](PartBuilder& layer) {
    layer.norm("norm", a.hidden);
    layer.linear("attention.qkvo", a.hidden, a.hidden, {.count = 4, .role = TensorRole::attention});
    layer.attend(a.heads, a.head_dim, frames, frames);
  });
  part.vector("latents", TensorRole::position, latents * a.hidden);
  constexpr double few = latents;
  const LinearOptions of_latents{.bias = false, .role = TensorRole::attention, .uses = few};
  part.layers(
      2,
      [&](PartBuilder& layer) {
        layer.linear("attention.q", heads * head_dim, a.hidden, of_latents);
        layer.linear("attention.kv", heads * head_dim, a.hidden,
                     {.count = 2, .bias = false, .role = TensorRole::attention, .uses = few + frames});
        layer.linear("attention.output", a.hidden, heads * head_dim, of_latents);
        layer.linear("mlp.gate_up", 2 * mlp, a.hidden, {.role = TensorRole::mlp, .uses = few});
        layer.linear("mlp.down", a.hidden, mlp, {.role = TensorRole::mlp, .uses = few});
        layer.attend(heads, head_dim, few, few + frames);
      },
      "resampler");
  part.norm("norm", a.hidden, 1, false);
  out.parts.push_back(part.take());
}

void add_speech_decoder(Network& out, Fields& args) {
  Vocoder vocoder;
  vocoder.inputs = bounded_count(args, "decoder_input_dim", 1024, kMostWidth);
  vocoder.condition = bounded_count(args, "d_vector_dim", 512, kMostWidth);
  vocoder.condition_each = args.flag({"cond_d_vector_in_each_upsampling_layer"}, true);
  const double frames = static_cast<double>(args.count_or({"output_sample_rate"}, 24000)) / vocoder.samples_per_frame();
  PartBuilder part("decoder", "vocoder", std::string(kSecond), frames);
  add_vocoder(part, vocoder, frames);
  out.parts.push_back(part.take());
}

void add_squeezed_block(PartBuilder& part, ConvStack& stack, std::int64_t width, std::int64_t stride) {
  constexpr std::int64_t reduction = 8;
  if (stride > 1) {
    ConvStack shortcut = stack;
    shortcut.conv("shortcut", width, {.window = {.size = 1, .stride = stride}});
  }
  stack.conv("conv1", width, {.window = {.stride = stride}});
  stack.conv("conv2", width, {});
  part.linear("squeeze", width / reduction, width, {.uses = 1});
  part.linear("excite", width, width / reduction, {.uses = 1});
}

/// A residual network over 64 mel bands, pooled by attention.
void add_speaker_encoder(Network& out) {
  constexpr std::int64_t mels = 64;
  constexpr std::int64_t frames = 100;  // a second
  constexpr std::array<std::int64_t, 4> depths{3, 4, 6, 3};
  constexpr std::int64_t pooled = 256 * mels / 8;
  constexpr std::int64_t narrow = 128;
  constexpr std::int64_t speaker = 512;
  PartBuilder part("speaker_encoder", "residual network over a spectrogram", "second of reference");
  ConvStack stack(part, {mels, frames}, 1);
  stack.conv("stem", 32, {.bias = true});
  std::int64_t width = 32;
  for (std::size_t i = 0; i < depths.size(); ++i) {
    add_stage(part, "stage" + std::to_string(i + 1), depths[i],
              [&](bool first) { add_squeezed_block(part, stack, width, first && i > 0 ? 2 : 1); });
    width *= 2;
  }
  const auto left = static_cast<double>(stack.grid().width);
  part.conv("attention.down", narrow, pooled, 1, {.uses = left});
  part.norm("attention.norm", narrow);
  part.conv("attention.up", pooled, narrow, 1, {.uses = left});
  part.linear("project", speaker, 2 * pooled, {.uses = 1});
  out.parts.push_back(part.take());
}

}  // namespace

void read_xtts(Fields& in, Network& out) {
  const Node* node = in.find({"model_args"});
  if (!node || node->kind != Node::Kind::mapping) {
    in.missing("model_args");
    return;
  }
  Fields args = in.inside(*node);
  if (!args.flag({"gpt_use_perceiver_resampler"}, false)) {
    in.unreadable("a speech network of the first generation (gpt_use_perceiver_resampler)");
    return;
  }
  const Architecture a = language_model(args);
  for (Problem& p : check_architecture(a)) in.wrong("model_args", std::move(p.message), std::move(p.expected));
  if (!in.sound()) return;
  const std::string family = out.family;
  out = network_of(a);
  out.family = family;
  const double rate = static_cast<double>(args.count_or({"input_sample_rate"}, 22050));
  add_reference_encoder(out, a, kReferenceSeconds * rate / kReferenceHop);
  add_speaker_encoder(out);
  add_speech_decoder(out, args);
}

}  // namespace gpuplan
