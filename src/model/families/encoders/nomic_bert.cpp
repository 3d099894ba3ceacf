// Encoders with rotary positions and gated MLPs, written down from the models' own code: nomic and gte.

#include "../family.hpp"
#include "encoder_blocks.hpp"

namespace gpuplan {
namespace {

struct NomicShape : EncoderShape {
  bool gated = false;
  bool qkv_bias = true;
  bool up_bias = true;
  bool down_bias = true;
  std::int64_t experts = 0;
  std::int64_t experts_per_token = 0;
  std::int64_t expert_layers = 0;
};

NomicShape read_nomic_shape(Fields& in) {
  NomicShape s;
  s.layers = in.count({"n_layer"});
  s.hidden = in.count({"n_embd"});
  s.heads = in.count({"n_head"});
  s.intermediate = in.count({"n_inner"});
  s.head_dim = head_dim_of(in, s.hidden, s.heads, "n_head");
  s.embedding = s.hidden;
  const std::int64_t multiple = in.count_or({"pad_vocab_size_multiple"}, 1);
  s.vocab = (in.count({"vocab_size"}) + multiple - 1) / multiple * multiple;
  s.token_types = in.amount_or({"type_vocab_size"}, 2);
  const std::string activation = in.text({"activation_function"});
  s.gated = activation == "swiglu" || activation == "glu" || activation == "geglu";
  s.qkv_bias = in.flag({"qkv_proj_bias"}, true);
  s.up_bias = in.flag({"mlp_fc1_bias"}, true);
  s.down_bias = in.flag({"mlp_fc2_bias"}, true);
  s.experts = in.amount_or({"num_experts"}, 0);
  if (s.experts == 0) return s;
  s.experts_per_token = in.count_or({"moe_top_k"}, 2);
  s.expert_layers = s.layers / in.count_or({"moe_every_n_layers"}, 2);
  return s;
}

/// Experts without gates that share one bias.
void add_experts(PartBuilder& layer, const NomicShape& s) {
  const double share = static_cast<double>(s.experts_per_token) / static_cast<double>(s.experts);
  layer.linear("mlp.router", s.experts, s.hidden, {.bias = false, .role = TensorRole::router});
  layer.linear("mlp.expert", s.intermediate, s.hidden,
               {.count = 2 * s.experts, .bias = false, .role = TensorRole::expert, .uses = share});
  layer.vector("mlp.expert_bias", TensorRole::bias, s.hidden);
}

void add_nomic_attention(PartBuilder& layer, const NomicShape& s) {
  add_attention(layer, s, {.qkv_bias = s.qkv_bias, .output_bias = s.qkv_bias});
  layer.attend(s.heads, s.head_dim, 1, 0);
  layer.norm("norm", s.hidden, 2);
}

void add_gte_head(Fields& in, PartBuilder& part, const EncoderShape& s, EncoderHead head, bool tied) {
  if (head == EncoderHead::language_model) {
    part.linear("head.dense", s.hidden, s.hidden);
    part.norm("head.norm", s.hidden);
    if (!tied) part.linear("head.output", s.vocab, s.hidden, {.bias = false, .role = TensorRole::head});
    part.vector("head.output_bias", TensorRole::bias, s.vocab);
  } else if (head == EncoderHead::text_labels || head == EncoderHead::choice) {
    add_once_a_text(part, "pooler", s.hidden, s.hidden);
    add_once_a_text(part, "head.labels", head == EncoderHead::choice ? 1 : read_labels(in), s.hidden);
  } else if (head == EncoderHead::token_labels || head == EncoderHead::span) {
    part.linear("head.labels", head == EncoderHead::span ? 2 : read_labels(in), s.hidden);
  }
}

}  // namespace

/// Rows of the table are padded; every second layer may have experts.
void read_nomic_bert(Fields& in, Network& out) {
  const NomicShape s = read_nomic_shape(in);
  const EncoderHead head = read_head(in, "NomicBert");
  const bool scores = head == EncoderHead::language_model || head == EncoderHead::pretraining;
  PartBuilder part("encoder", shape_title("BERT encoder with rotary positions", s.layers, s.hidden), "token");
  add_token_table(part, s.vocab, s.hidden, scores);
  part.table("token_type", s.token_types, s.hidden);
  part.norm("embedding_norm", s.hidden);
  part.layers(s.layers, [&](PartBuilder& layer) { add_nomic_attention(layer, s); });
  part.layers(s.layers - s.expert_layers, [&](PartBuilder& layer) {
    add_mlp(layer, s, {.gated = s.gated, .up_bias = s.up_bias, .down_bias = s.down_bias});
  });
  part.layers(s.expert_layers, [&](PartBuilder& layer) { add_experts(layer, s); });
  if (scores || head == EncoderHead::text_labels) in.not_modelled("the head of class '" + class_of(in) + "'");
  out.parts.push_back(part.take());
}

/// The gte encoders' own code calls its type `new`.
void read_gte(Fields& in, Network& out) {
  EncoderShape s = read_encoder_shape(in);
  s.token_types = in.amount_or({"type_vocab_size"}, 1);
  if (in.text({"position_embedding_type"}) != "absolute") s.positions = 0;
  const EncoderHead head = read_head(in, "New");
  const bool scores = head == EncoderHead::language_model;
  const bool tied = in.flag({"tie_word_embeddings"}, true);
  PartBuilder part("encoder", shape_title("BERT encoder with rotary positions", s.layers, s.hidden), "token");
  add_token_table(part, s.vocab, s.hidden, scores && tied);
  part.table("position", s.positions, s.hidden, TensorRole::position);
  part.table("token_type", s.token_types, s.hidden);
  part.norm("embedding_norm", s.hidden);
  part.layers(s.layers, [&](PartBuilder& layer) {
    add_attention(layer, s);
    layer.attend(s.heads, s.head_dim, 1, 0);
    add_mlp(layer, s, {.gated = true, .up_bias = false});
    layer.norm("norm", s.hidden, 2);
  });
  add_gte_head(in, part, s, head, tied);
  out.parts.push_back(part.take());
}

}  // namespace gpuplan
