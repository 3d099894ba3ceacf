// Whisper: two convolutions and an encoder over a window of 30 s, a text decoder that attends to it.

#include "whisper.hpp"

#include "../family.hpp"

#include <utility>

namespace gpuplan {
namespace {

struct WhisperShape {
  AudioEncoderShape encoder;
  BlockShape decoder;
  std::int64_t decoder_layers = 1;
  std::int64_t vocab = 1;
  std::int64_t target_positions = 1;
};

WhisperShape read_whisper_shape(Fields& in) {
  constexpr std::int64_t default_target = 448;
  WhisperShape s;
  s.encoder.hidden = in.count({"d_model"});
  s.decoder.hidden = s.encoder.hidden;
  s.encoder.layers = in.count({"encoder_layers"});
  s.decoder_layers = in.count({"decoder_layers"});
  s.encoder.heads = in.count({"encoder_attention_heads"});
  s.decoder.heads = in.count({"decoder_attention_heads"});
  s.encoder.intermediate = in.count({"encoder_ffn_dim"});
  s.decoder.intermediate = in.count({"decoder_ffn_dim"});
  s.encoder.head_dim = head_dim_of(in, s.encoder.hidden, s.encoder.heads, "encoder_attention_heads");
  s.decoder.head_dim = head_dim_of(in, s.decoder.hidden, s.decoder.heads, "decoder_attention_heads");
  s.vocab = in.count({"vocab_size"});
  s.encoder.bins = in.count_or({"num_mel_bins"}, s.encoder.bins);
  s.encoder.positions = in.count_or({"max_source_positions"}, s.encoder.positions);
  s.target_positions = in.count_or({"max_target_positions"}, default_target);
  return s;
}

/// Keys and values of the window are made once for all of its text: spread over the tokens that fit a window.
NetworkPart whisper_decoder(const WhisperShape& s, bool tied, bool has_head) {
  const auto positions = static_cast<double>(s.encoder.positions);
  const double positions_per_token = positions / static_cast<double>(s.target_positions);
  const std::int64_t hidden = s.decoder.hidden;
  PartBuilder part("decoder", shape_title("Whisper decoder", s.decoder_layers, hidden), "token");
  add_token_table(part, s.vocab, hidden, has_head && tied);
  part.table("position", s.target_positions, hidden, TensorRole::position);
  part.layers(s.decoder_layers, [&](PartBuilder& layer) {
    add_attention(layer, s.decoder, {.k_bias = false});
    layer.attend(s.decoder.heads, s.decoder.head_dim, 1, 0);
    add_attention(layer, s.decoder, {.name = "cross_attention", .k_bias = false, .memory_uses = positions_per_token});
    layer.attend(s.decoder.heads, s.decoder.head_dim, 1, positions);
    add_mlp(layer, s.decoder);
    layer.norm("norm", hidden, 3);
  });
  part.norm("final_norm", hidden);
  if (has_head && !tied) part.linear("head", s.vocab, hidden, {.bias = false, .role = TensorRole::head});
  return part.take();
}

/// The encoder alone, its outputs averaged into labels.
void read_audio_classifier(Fields& in, Network& out, const WhisperShape& s) {
  constexpr std::int64_t default_width = 256;
  const std::int64_t width = in.count_or({"classifier_proj_size"}, default_width);
  PartBuilder encoder = build_audio_encoder("encoder", s.encoder);
  if (in.flag({"use_weighted_layer_sum"}, false))
    encoder.vector("head.layers", TensorRole::state, s.encoder.layers + 1);
  encoder.linear("head.dense", width, s.encoder.hidden);
  encoder.linear("head.labels", read_labels(in), width, {.uses = 1});
  out.parts.push_back(encoder.take());
}

}  // namespace

PartBuilder build_audio_encoder(std::string name, const AudioEncoderShape& shape) {
  constexpr std::int64_t kernel = 3;
  const auto positions = static_cast<double>(shape.positions);
  PartBuilder part(std::move(name), shape_title("Whisper encoder", shape.layers, shape.hidden),
                   std::string(kAudioWindow), positions);
  part.conv("conv1", shape.hidden, shape.bins, kernel, {.uses = 2 * positions});
  part.conv("conv2", shape.hidden, shape.hidden, kernel);
  part.table("position", shape.positions, shape.hidden, TensorRole::position);
  part.layers(shape.layers, [&](PartBuilder& layer) {
    add_attention(layer, shape, {.k_bias = false});
    layer.attend(shape.heads, shape.head_dim, positions, positions);
    add_mlp(layer, shape);
    layer.norm("norm", shape.hidden, 2);
  });
  part.norm("final_norm", shape.hidden);
  return part;
}

void read_whisper(Fields& in, Network& out) {
  const WhisperShape s = read_whisper_shape(in);
  if (class_of(in).ends_with("ForAudioClassification")) return read_audio_classifier(in, out, s);
  if (class_of(in).ends_with("ForCausalLM")) return in.unreadable("the decoder alone of an encoder-decoder");
  const EncoderHead head = read_head(in, "Whisper");
  const bool has_head = head == EncoderHead::language_model || class_of(in).empty();
  out.parts.push_back(build_audio_encoder("encoder", s.encoder).take());
  out.parts.push_back(whisper_decoder(s, in.flag({"tie_word_embeddings"}, true), has_head));
}

}  // namespace gpuplan
