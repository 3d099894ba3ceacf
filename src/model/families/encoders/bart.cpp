// BART and its heirs, which differ in their positions and norms.

#include "../family.hpp"
#include "encoder_blocks.hpp"

#include <string>

namespace gpuplan {
namespace {

enum class Positions : std::uint8_t {
  learned,  ///< a table
  stored,   ///< a table of sines, loaded with the weights
  computed  ///< sines, made when the network is built
};

struct BartTraits {
  std::string_view title;
  std::string_view stems;
  Positions positions = Positions::learned;
  std::int64_t position_offset = 0;  ///< rows before the first position
  bool embedding_norm = false;
  bool final_norm = false;
};

struct BartShape {
  BlockShape encoder;
  BlockShape decoder;
  std::int64_t layers = 1;
  std::int64_t decoder_layers = 1;
  std::int64_t vocab = 1;
  std::int64_t decoder_vocab = 1;
  std::int64_t positions = 0;  ///< rows of the table, 0: none
  bool one_table = true;       ///< encoder and decoder share their tokens
  bool tied = true;
};

BartShape read_bart_shape(Fields& in, const BartTraits& traits) {
  constexpr std::int64_t default_positions = 1024;
  BartShape s;
  s.encoder.hidden = in.count({"d_model"});
  s.decoder.hidden = s.encoder.hidden;
  s.layers = in.count({"encoder_layers"});
  s.decoder_layers = in.count({"decoder_layers"});
  s.encoder.heads = in.count({"encoder_attention_heads"});
  s.decoder.heads = in.count({"decoder_attention_heads"});
  s.encoder.intermediate = in.count({"encoder_ffn_dim"});
  s.decoder.intermediate = in.count({"decoder_ffn_dim"});
  s.vocab = in.count({"vocab_size"});
  s.decoder_vocab = in.count_or({"decoder_vocab_size"}, s.vocab);
  s.encoder.head_dim = head_dim_of(in, s.encoder.hidden, s.encoder.heads, "encoder_attention_heads");
  s.decoder.head_dim = head_dim_of(in, s.decoder.hidden, s.decoder.heads, "decoder_attention_heads");
  const std::int64_t positions = in.assumed({"max_position_embeddings"}, default_positions);
  if (traits.positions != Positions::computed) s.positions = positions + traits.position_offset;
  s.one_table = in.flag({"share_encoder_decoder_embeddings"}, true);
  s.tied = in.flag({"tie_word_embeddings"}, true);
  return s;
}

void add_decoder_layer(PartBuilder& layer, const BlockShape& s) {
  add_attention(layer, s);
  layer.attend(s.heads, s.head_dim, 1, 0);
  add_attention(layer, s, {.name = "cross_attention"});
  layer.attend(s.heads, s.head_dim, 1, 0);
  add_mlp(layer, s);
  layer.norm("norm", s.hidden, 3);
}

void add_stack_ends(PartBuilder& part, const BartShape& s, const BartTraits& traits) {
  part.table("position", s.positions, s.encoder.hidden, TensorRole::position);
  if (traits.embedding_norm) part.norm("embedding_norm", s.encoder.hidden);
  if (traits.final_norm) part.norm("final_norm", s.encoder.hidden);
}

NetworkPart bart_encoder(const BartShape& s, const BartTraits& traits) {
  PartBuilder part("encoder", shape_title(std::string(traits.title) + " encoder", s.layers, s.encoder.hidden), "token");
  if (!s.one_table) add_token_table(part, s.vocab, s.encoder.hidden);
  add_stack_ends(part, s, traits);
  part.layers(s.layers, [&](PartBuilder& layer) { add_encoder_layer(layer, s.encoder); });
  return part.take();
}

NetworkPart bart_decoder(Fields& in, const BartShape& s, const BartTraits& traits, EncoderHead head) {
  const std::int64_t hidden = s.decoder.hidden;
  PartBuilder part("decoder", shape_title(std::string(traits.title) + " decoder", s.decoder_layers, hidden), "token");
  const bool scores = head == EncoderHead::language_model;
  if (!s.one_table) add_token_table(part, s.decoder_vocab, hidden, scores && s.tied);
  add_stack_ends(part, s, traits);
  part.layers(s.decoder_layers, [&](PartBuilder& layer) { add_decoder_layer(layer, s.decoder); });
  if (scores && !s.tied) part.linear("head", s.decoder_vocab, hidden, {.bias = false, .role = TensorRole::head});
  if (head == EncoderHead::text_labels) {
    add_once_a_text(part, "head.dense", hidden, hidden);
    add_once_a_text(part, "head.labels", read_labels(in), hidden);
  }
  if (head == EncoderHead::span) part.linear("head.labels", 2, hidden);
  return part.take();
}

void read_bart_like(Fields& in, Network& out, const BartTraits& traits) {
  warn_if_cut_down(in);
  const BartShape s = read_bart_shape(in, traits);
  const EncoderHead head = read_head(in, traits.stems);
  if (class_of(in).ends_with("ForCausalLM")) return in.unreadable("the decoder alone of an encoder-decoder");
  if (s.one_table) {
    const bool table_is_head = head == EncoderHead::language_model && s.tied;
    PartBuilder table("embedding",
                      table_is_head ? "tokens of encoder and decoder, and the head" : "tokens of both stacks", "token");
    add_token_table(table, s.vocab, s.encoder.hidden, table_is_head);
    out.parts.push_back(table.take());
  }
  out.parts.push_back(bart_encoder(s, traits));
  out.parts.push_back(bart_decoder(in, s, traits, head));
}

}  // namespace

void read_bart(Fields& in, Network& out) {
  read_bart_like(in, out, {.title = "BART", .stems = "Bart PLBart", .position_offset = 2, .embedding_norm = true});
}

void read_mbart(Fields& in, Network& out) {
  read_bart_like(
      in, out, {.title = "mBART", .stems = "MBart", .position_offset = 2, .embedding_norm = true, .final_norm = true});
}

void read_pegasus(Fields& in, Network& out) {
  read_bart_like(in, out, {.title = "Pegasus", .stems = "Pegasus", .positions = Positions::stored, .final_norm = true});
}

void read_marian(Fields& in, Network& out) {
  read_bart_like(in, out, {.title = "Marian", .stems = "Marian", .positions = Positions::stored});
}

void read_m2m_100(Fields& in, Network& out) {
  read_bart_like(in, out,
                 {.title = "M2M-100", .stems = "M2M100", .positions = Positions::computed, .final_norm = true});
}

void read_blenderbot(Fields& in, Network& out) {
  read_bart_like(in, out, {.title = "Blenderbot", .stems = "Blenderbot", .final_norm = true});
}

void read_blenderbot_small(Fields& in, Network& out) {
  read_bart_like(in, out, {.title = "Blenderbot", .stems = "BlenderbotSmall", .embedding_norm = true});
}

}  // namespace gpuplan
