// Speech in front of a text model: the encoder of Whisper and a small projector. Modules: transformers, models/{qwen2_audio,voxtral}.

#include "../speech/whisper.hpp"
#include "beside.hpp"

#include <utility>

namespace gpuplan {
namespace {

std::optional<AudioEncoderShape> read_audio_encoder(Fields& in) {
  const Node* config = in.find({"audio_config"});
  if (!config || config->kind != Node::Kind::mapping || config->items.empty()) {
    in.not_modelled("audio encoder and projector: the config has no audio_config");
    return std::nullopt;
  }
  Fields audio = in.inside(*config);
  AudioEncoderShape e;
  e.hidden = audio.count_or({"d_model", "hidden_size"}, 1280);
  e.intermediate = audio.count_or({"encoder_ffn_dim", "intermediate_size"}, 5120);
  e.layers = audio.count_or({"encoder_layers", "num_hidden_layers"}, 32);
  e.heads = audio.count_or({"encoder_attention_heads", "num_attention_heads"}, 20);
  e.bins = audio.count_or({"num_mel_bins"}, 128);
  e.positions = audio.count_or({"max_source_positions"}, e.positions);
  e.head_dim = head_dim_of(audio, e.hidden, e.heads, "num_attention_heads");
  return e;
}

}  // namespace

/// Positions are averaged in pairs before the projector.
void beside_qwen2_audio(Fields& in, const Architecture& text, Network& out) {
  const auto encoder = read_audio_encoder(in);
  if (!encoder) return;
  add_beside(out, build_audio_encoder("audio_encoder", *encoder));
  PartBuilder part("projector", "linear layer", std::string(kAudioWindow), static_cast<double>(encoder->positions) / 2);
  part.linear("linear", text.hidden, encoder->hidden);
  add_beside(out, std::move(part));
}

/// As many positions as make the encoder's inner width are one token.
void beside_voxtral(Fields& in, const Architecture& text, Network& out) {
  const auto encoder = read_audio_encoder(in);
  if (!encoder) return;
  add_beside(out, build_audio_encoder("audio_encoder", *encoder));
  const double merged = static_cast<double>(encoder->intermediate) / static_cast<double>(encoder->hidden);
  PartBuilder part("projector", "two linear layers", std::string(kAudioWindow),
                   static_cast<double>(encoder->positions) / merged);
  part.linear("linear_1", text.hidden, encoder->intermediate, {.bias = false});
  part.linear("linear_2", text.hidden, text.hidden, {.bias = false});
  add_beside(out, std::move(part));
}

}  // namespace gpuplan
