// DeBERTa: attention that scores content against relative positions as well (disentangled attention).

#include "../family.hpp"
#include "encoder_blocks.hpp"

namespace gpuplan {
namespace {

struct DebertaShape : EncoderShape {
  bool relative = false;
  std::int64_t span = 0;  ///< relative positions to either side
  bool content_to_position = false;
  bool position_to_content = false;
};

DebertaShape read_deberta_shape(Fields& in) {
  DebertaShape s;
  static_cast<EncoderShape&>(s) = read_encoder_shape(in);
  s.embedding = in.count_or({"embedding_size"}, s.hidden);
  s.token_types = in.amount_or({"type_vocab_size"}, 0);
  s.relative = in.flag({"relative_attention"}, false);
  s.span = positive_or(in, "max_relative_positions", s.positions);
  if (s.span == 0) s.span = s.positions;
  if (!in.flag({"position_biased_input"}, true)) s.positions = 0;
  std::string kinds = in.text({"pos_att_type"});  // "p2c|c2p", or a list
  for (const std::string& kind : in.texts("pos_att_type")) kinds += kind + "|";
  s.content_to_position = s.relative && kinds.find("c2p") != std::string::npos;
  s.position_to_content = s.relative && kinds.find("p2c") != std::string::npos;
  return s;
}

void add_embeddings(PartBuilder& part, const DebertaShape& s, bool table_is_head) {
  add_token_table(part, s.vocab, s.embedding, table_is_head);
  part.table("position", s.positions, s.embedding, TensorRole::position);
  part.table("token_type", s.token_types, s.embedding);
  if (s.embedding != s.hidden) part.linear("embedding_projection", s.hidden, s.embedding, {.bias = false});
  part.norm("embedding_norm", s.hidden);
}

/// Scores of content, and of content against positions: the weighted sum is made once.
void attend(PartBuilder& layer, const DebertaShape& s) {
  layer.attend(s.heads, s.head_dim, 1, 0);
  const int more = (s.content_to_position ? 1 : 0) + (s.position_to_content ? 1 : 0);
  // Two FLOPs a product each, where scores and weighted sum have four.
  if (more > 0) layer.attend(s.heads, s.head_dim, more / 2.0, 2.0 * static_cast<double>(s.span));
}

void add_head(Fields& in, PartBuilder& part, const DebertaShape& s, EncoderHead head, bool tied) {
  if (head == EncoderHead::language_model) {
    part.linear("head.dense", s.embedding, s.hidden);
    part.norm("head.norm", s.embedding);
    if (!tied) part.linear("head.output", s.vocab, s.embedding, {.bias = false, .role = TensorRole::head});
    part.vector("head.output_bias", TensorRole::bias, s.vocab);
  } else if (head == EncoderHead::text_labels || head == EncoderHead::choice) {
    const std::int64_t width = in.count_or({"pooler_hidden_size"}, s.hidden);
    add_once_a_text(part, "pooler", width, width);
    add_once_a_text(part, "head.labels", head == EncoderHead::choice ? 1 : read_labels(in), width);
  } else if (head == EncoderHead::token_labels || head == EncoderHead::span) {
    part.linear("head.labels", head == EncoderHead::span ? 2 : read_labels(in), s.hidden);
  }
}

template <class Attention>
void read_disentangled(Fields& in, Network& out, const DebertaShape& s, std::string_view stems, Attention&& attention,
                       void (*beside_layers)(Fields& in, PartBuilder& part, const DebertaShape& s)) {
  warn_if_cut_down(in);
  const EncoderHead head = read_head(in, stems);
  const bool tied = in.flag({"tie_word_embeddings"}, true);
  PartBuilder part("encoder", shape_title("DeBERTa encoder", s.layers, s.hidden), "token");
  add_embeddings(part, s, tied && head == EncoderHead::language_model);
  beside_layers(in, part, s);
  part.layers(s.layers, [&](PartBuilder& layer) {
    attention(layer);
    attend(layer, s);
    add_mlp(layer, s);
    layer.norm("norm", s.hidden, 2);
  });
  add_head(in, part, s, head, tied);
  out.parts.push_back(part.take());
}

void add_relative_table(PartBuilder& part, const DebertaShape& s) {
  if (s.relative) part.table("relative_position", 2 * s.span, s.hidden, TensorRole::position);
}

/// The table of relative positions, its norm, and the convolution beside the first layer.
void add_v2_extras(Fields& in, PartBuilder& part, const DebertaShape& s) {
  add_relative_table(part, s);
  const bool has_norm = in.text({"norm_rel_ebd"}).find("layer_norm") != std::string::npos;
  if (has_norm) part.norm("relative_position_norm", s.hidden);
  const std::int64_t kernel = in.amount_or({"conv_kernel_size"}, 0);
  if (kernel == 0) return;
  part.conv("convolution", s.hidden, s.hidden, kernel, {.groups = in.count_or({"conv_groups"}, 1)});
  part.norm("convolution_norm", s.hidden);
}

}  // namespace

/// One projection for query, key and value, biases for query and value alone.
void read_deberta(Fields& in, Network& out) {
  const DebertaShape s = read_deberta_shape(in);
  const bool talking = in.flag({"talking_head"}, false);
  const auto attention = [&](PartBuilder& layer) {
    const auto role = TensorRole::attention;
    layer.linear("attention.qkv", s.hidden, s.hidden, {.count = 3, .bias = false, .role = role});
    layer.vector("attention.qv_bias", TensorRole::bias, s.hidden, 2);
    if (s.content_to_position) {
      layer.linear("attention.position_key", s.hidden, s.hidden, {.bias = false, .role = role, .uses = 0});
    }
    if (s.position_to_content) layer.linear("attention.position_query", s.hidden, s.hidden, {.role = role, .uses = 0});
    if (talking) layer.linear("attention.talking_heads", s.heads, s.heads, {.count = 2, .bias = false, .role = role});
    layer.linear("attention.output", s.hidden, s.hidden, {.role = role});
  };
  read_disentangled(in, out, s, "Deberta", attention,
                    [](Fields&, PartBuilder& part, const DebertaShape& shape) { add_relative_table(part, shape); });
}

/// Versions 2 and 3: distances in buckets; positions may go through the projections of the content (`share_att_key`).
void read_deberta_v2(Fields& in, Network& out) {
  DebertaShape s = read_deberta_shape(in);
  const std::int64_t buckets = positive_or(in, "position_buckets", 0);
  if (buckets > 0) s.span = buckets;
  const bool shared = in.flag({"share_att_key"}, false);
  const auto attention = [&](PartBuilder& layer) {
    add_attention(layer, s);
    if (shared) return;
    const LinearOptions options{.role = TensorRole::attention, .uses = 0};
    if (s.content_to_position) layer.linear("attention.position_key", s.hidden, s.hidden, options);
    if (s.position_to_content) layer.linear("attention.position_query", s.hidden, s.hidden, options);
  };
  read_disentangled(in, out, s, "DebertaV2", attention, add_v2_extras);
}

}  // namespace gpuplan
