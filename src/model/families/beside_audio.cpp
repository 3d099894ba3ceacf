// Speech in front of a text model: the encoder of Whisper and a small projector. Modules: transformers, models/{qwen2_audio,voxtral}.

#include "beside.hpp"

#include <utility>

namespace gpuplan {
namespace {

constexpr std::string_view kAudio = "30 s of audio";  // the window that the encoder's positions stand for

struct AudioEncoder : BlockShape {
  std::int64_t layers = 1;
  std::int64_t bins = 128;
  std::int64_t positions = 1500;
};

std::optional<AudioEncoder> read_audio_encoder(Fields& in) {
  const Node* config = in.find({"audio_config"});
  if (!config || config->kind != Node::Kind::mapping || config->items.empty()) {
    in.not_modelled("audio encoder and projector: the config has no audio_config");
    return std::nullopt;
  }
  Fields audio = in.inside(*config);
  AudioEncoder e;
  e.hidden = audio.count_or({"d_model", "hidden_size"}, 1280);
  e.intermediate = audio.count_or({"encoder_ffn_dim", "intermediate_size"}, 5120);
  e.layers = audio.count_or({"encoder_layers", "num_hidden_layers"}, 32);
  e.heads = audio.count_or({"encoder_attention_heads", "num_attention_heads"}, 20);
  e.bins = audio.count_or({"num_mel_bins"}, e.bins);
  e.positions = audio.count_or({"max_source_positions"}, e.positions);
  e.head_dim = head_dim_of(audio, e.hidden, e.heads, "num_attention_heads");
  return e;
}

/// Two convolutions, of which the second halves the frames, and layers whose keys have no bias.
void add_audio_encoder(const AudioEncoder& e, Network& out) {
  constexpr std::int64_t kernel = 3;
  const auto positions = static_cast<double>(e.positions);
  PartBuilder part("audio_encoder", shape_title("Whisper encoder", e.layers, e.hidden), std::string(kAudio), positions);
  part.conv("conv1", e.hidden, e.bins, kernel, {.uses = 2 * positions});
  part.conv("conv2", e.hidden, e.hidden, kernel);
  part.table("position", e.positions, e.hidden, TensorRole::position);
  part.layers(e.layers, [&](PartBuilder& layer) {
    add_attention(layer, e, {.k_bias = false});
    layer.attend(e.heads, e.head_dim, positions, positions);
    add_mlp(layer, e);
    layer.norm("norm", e.hidden, 2);
  });
  part.norm("final_norm", e.hidden);
  add_beside(out, std::move(part));
}

}  // namespace

/// Positions are averaged in pairs before the projector.
void beside_qwen2_audio(Fields& in, const Architecture& text, Network& out) {
  const auto encoder = read_audio_encoder(in);
  if (!encoder) return;
  add_audio_encoder(*encoder, out);
  PartBuilder part("projector", "linear layer", std::string(kAudio), static_cast<double>(encoder->positions) / 2);
  part.linear("linear", text.hidden, encoder->hidden);
  add_beside(out, std::move(part));
}

/// As many positions as make the encoder's inner width are one token.
void beside_voxtral(Fields& in, const Architecture& text, Network& out) {
  const auto encoder = read_audio_encoder(in);
  if (!encoder) return;
  add_audio_encoder(*encoder, out);
  const double merged = static_cast<double>(encoder->intermediate) / static_cast<double>(encoder->hidden);
  PartBuilder part("projector", "two linear layers", std::string(kAudio),
                   static_cast<double>(encoder->positions) / merged);
  part.linear("linear_1", text.hidden, encoder->intermediate, {.bias = false});
  part.linear("linear_2", text.hidden, text.hidden, {.bias = false});
  add_beside(out, std::move(part));
}

}  // namespace gpuplan
