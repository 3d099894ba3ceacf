// T5 and its heirs: RMS norms, no biases, relative positions as a bias on the scores, one table for both stacks.

#include "../family.hpp"
#include "encoder_blocks.hpp"

namespace gpuplan {
namespace {

struct T5Traits {
  std::string_view title;
  std::string_view stems;
  bool tied = true;                  ///< what `tie_word_embeddings` is when it is not said
  bool gated = false;                ///< what `feed_forward_proj` is when it is not said
  bool bias_in_every_layer = false;  ///< else the first layer's serves the stack
};

struct T5Shape : BlockShape {
  std::int64_t layers = 1;
  std::int64_t decoder_layers = 1;
  std::int64_t vocab = 1;
  std::int64_t buckets = 1;
  bool gated = false;
  bool tied = true;
  bool bias_in_every_layer = false;
};

T5Shape read_t5_shape(Fields& in, const T5Traits& traits) {
  constexpr std::int64_t default_head_dim = 64;
  constexpr std::int64_t default_buckets = 32;
  T5Shape s;
  s.layers = in.count({"num_layers"});
  s.decoder_layers = in.count_or({"num_decoder_layers"}, s.layers);
  s.hidden = in.count({"d_model"});
  s.heads = in.count({"num_heads"});
  s.head_dim = in.assumed({"d_kv"}, default_head_dim);
  s.intermediate = in.count({"d_ff"});
  s.vocab = in.count({"vocab_size"});
  s.buckets = in.count_or({"relative_attention_num_buckets"}, default_buckets);
  const std::string mlp = in.text({"feed_forward_proj"});
  s.gated = mlp.empty() ? traits.gated : mlp.starts_with("gated");
  if (mlp.empty() && !in.has({"model_type"})) {
    in.warn("model.assumed", std::string("'feed_forward_proj' is not in the config: an MLP with") +
                                 (s.gated ? "" : "out") + " gates, the format's default, is taken");
  }
  s.tied = in.flag({"tie_word_embeddings"}, traits.tied);
  s.bias_in_every_layer = traits.bias_in_every_layer;
  return s;
}

/// A layer of the encoder, or with attention to the encoder's output of the decoder.
void add_t5_layer(PartBuilder& layer, const T5Shape& s, bool decodes) {
  const AttentionOptions own{.qkv_bias = false, .output_bias = false};
  add_attention(layer, s, own);
  layer.attend(s.heads, s.head_dim, 1, 0);
  if (s.bias_in_every_layer) {
    layer.table("attention.relative_position", s.buckets, s.heads, TensorRole::position);
  }
  if (decodes) {
    AttentionOptions cross = own;
    cross.name = "cross_attention";
    add_attention(layer, s, cross);
    layer.attend(s.heads, s.head_dim, 1, 0);
  }
  add_mlp(layer, s, {.gated = s.gated, .up_bias = false, .down_bias = false});
  layer.norm("norm", s.hidden, decodes ? 3 : 2, false);
}

void add_t5_stack(PartBuilder& part, const T5Shape& s, bool decodes) {
  if (!s.bias_in_every_layer) part.table("relative_position", s.buckets, s.heads, TensorRole::position);
  part.layers(decodes ? s.decoder_layers : s.layers, [&](PartBuilder& layer) { add_t5_layer(layer, s, decodes); });
  part.norm("final_norm", s.hidden, 1, false);
}

/// The encoder alone holds the table itself.
void read_t5_encoder(Fields& in, Network& out, const T5Traits& traits, const T5Shape& s, EncoderHead head) {
  PartBuilder part("encoder", shape_title(std::string(traits.title) + " encoder", s.layers, s.hidden), "token");
  add_token_table(part, s.vocab, s.hidden);
  add_t5_stack(part, s, false);
  if (head == EncoderHead::token_labels) part.linear("head.labels", read_labels(in), s.hidden);
  out.parts.push_back(part.take());
}

void add_t5_head(Fields& in, PartBuilder& decoder, const T5Shape& s, EncoderHead head) {
  if (head == EncoderHead::language_model && !s.tied) {
    decoder.linear("head", s.vocab, s.hidden,
                   {.bias = false, .role = TensorRole::head, .sharding = Sharding::vocabulary});
  } else if (head == EncoderHead::text_labels) {
    add_once_a_text(decoder, "head.dense", s.hidden, s.hidden);
    add_once_a_text(decoder, "head.labels", read_labels(in), s.hidden);
  } else if (head == EncoderHead::span) {
    decoder.linear("head.labels", read_labels(in), s.hidden);
  }
}

void read_t5_like(Fields& in, Network& out, const T5Traits& traits) {
  warn_if_cut_down(in);
  const T5Shape s = read_t5_shape(in, traits);
  const EncoderHead head = read_head(in, traits.stems);
  const bool encodes_only = class_of(in).ends_with("EncoderModel") || head == EncoderHead::token_labels;
  if (encodes_only) return read_t5_encoder(in, out, traits, s, head);
  const bool table_is_head = head == EncoderHead::language_model && s.tied;
  PartBuilder table("embedding",
                    table_is_head ? "tokens of encoder and decoder, and the head" : "tokens of both stacks", "token");
  add_token_table(table, s.vocab, s.hidden, table_is_head);
  PartBuilder encoder("encoder", shape_title(std::string(traits.title) + " encoder", s.layers, s.hidden), "token");
  add_t5_stack(encoder, s, false);
  PartBuilder decoder("decoder", shape_title(std::string(traits.title) + " decoder", s.decoder_layers, s.hidden),
                      "token");
  add_t5_stack(decoder, s, true);
  add_t5_head(in, decoder, s, head);
  out.parts.push_back(table.take());
  out.parts.push_back(encoder.take());
  out.parts.push_back(decoder.take());
}

}  // namespace

void read_t5(Fields& in, Network& out) { read_t5_like(in, out, {.title = "T5", .stems = "T5"}); }

void read_mt5(Fields& in, Network& out) {
  read_t5_like(in, out, {.title = "mT5", .stems = "MT5", .tied = false, .gated = true});
}

void read_umt5(Fields& in, Network& out) {
  read_t5_like(in, out, {.title = "UMT5", .stems = "UMT5", .gated = true, .bias_in_every_layer = true});
}

}  // namespace gpuplan
