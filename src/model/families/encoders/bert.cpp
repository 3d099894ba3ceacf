// BERT and its heirs: layers of attention and a plain MLP, a layer norm after each, learned positions.

#include "../family.hpp"
#include "encoder_blocks.hpp"

#include <algorithm>
#include <vector>

namespace gpuplan {
namespace {

/// What tells the families apart.
struct BertTraits {
  std::string_view title;
  std::string_view stems;
  std::int64_t token_types = 2;       ///< the class's default; 0: the family has no such table
  bool labels_have_own_dense = true;  ///< classifiers of texts: a dense layer of their own, else the pooler
  bool has_pooler = true;
};

EncoderShape read_bert_shape(Fields& in, const BertTraits& traits) {
  EncoderShape s = read_encoder_shape(in);
  if (traits.token_types > 0) s.token_types = in.amount_or({"type_vocab_size"}, traits.token_types);
  return s;
}

/// Kinds of positions: a table, distances beside the table, and none where the attention knows them.
void add_positions(Fields& in, PartBuilder& part, const EncoderShape& s) {
  const std::string kind = in.text({"position_embedding_type"});
  if (kind == "rotary" || kind == "rope" || kind == "alibi") return;
  part.table("position", s.positions, s.embedding, TensorRole::position);
  if (!kind.starts_with("relative_key")) return;
  part.layers(s.layers, [&](PartBuilder& layer) {
    layer.table("attention.distance", 2 * s.positions - 1, s.head_dim, TensorRole::position);
  });
}

void add_bert_embeddings(Fields& in, PartBuilder& part, const EncoderShape& s, bool table_is_head) {
  add_token_table(part, s.vocab, s.embedding, table_is_head);
  add_positions(in, part, s);
  part.table("token_type", s.token_types, s.embedding);
  part.norm("embedding_norm", s.embedding);
}

bool scores_tokens(EncoderHead head) { return head == EncoderHead::language_model || head == EncoderHead::pretraining; }

/// A dense layer, a norm, and the table of tokens with a bias.
void add_language_head(PartBuilder& part, const EncoderShape& s, bool tied) {
  part.linear("head.dense", s.embedding, s.hidden);
  part.norm("head.norm", s.embedding);
  if (!tied) part.linear("head.output", s.vocab, s.embedding, {.bias = false, .role = TensorRole::head});
  part.vector("head.output_bias", TensorRole::bias, s.vocab);
}

void add_label_head(Fields& in, PartBuilder& part, const EncoderShape& s, EncoderHead head, bool own_dense) {
  if (head == EncoderHead::text_labels) {
    if (own_dense) add_once_a_text(part, "head.dense", s.hidden, s.hidden);
    add_once_a_text(part, "head.labels", read_labels(in), s.hidden);
  } else if (head == EncoderHead::choice) {
    add_once_a_text(part, "head.labels", 1, s.hidden);
  } else if (head == EncoderHead::token_labels) {
    part.linear("head.labels", read_labels(in), s.hidden);
  } else if (head == EncoderHead::span) {
    part.linear("head.labels", 2, s.hidden);
  }
}

/// Whether the class keeps the layer that pools the first token.
bool pools(EncoderHead head, const BertTraits& traits) {
  if (!traits.has_pooler) return false;
  if (head == EncoderHead::text_labels) return !traits.labels_have_own_dense;
  return head == EncoderHead::none || head == EncoderHead::choice || head == EncoderHead::next_sentence ||
         (head == EncoderHead::pretraining && !traits.labels_have_own_dense);
}

void add_bert_head(Fields& in, PartBuilder& part, const EncoderShape& s, EncoderHead head, const BertTraits& traits,
                   bool tied) {
  if (pools(head, traits)) add_once_a_text(part, "pooler", s.hidden, s.hidden);
  if (scores_tokens(head)) add_language_head(part, s, tied);
  if (head == EncoderHead::next_sentence || (head == EncoderHead::pretraining && !traits.labels_have_own_dense)) {
    add_once_a_text(part, "head.next_sentence", 2, s.hidden);
  }
  add_label_head(in, part, s, head, traits.labels_have_own_dense);
}

/// Embeddings, whatever `more` puts beside the layers, the layers, and the class's head.
template <class Layer>
void read_bert_like(Fields& in, Network& out, const BertTraits& traits, Layer&& layer_body) {
  warn_if_cut_down(in);
  const EncoderShape s = read_bert_shape(in, traits);
  const EncoderHead head = read_head(in, traits.stems);
  const bool tied = in.flag({"tie_word_embeddings"}, true);
  if (in.flag({"add_cross_attention"}, false)) in.not_modelled("cross-attention to an encoder");
  if (in.has({"lora_adaptations"})) in.not_modelled("adapters (lora_adaptations)");
  PartBuilder part("encoder", shape_title(traits.title, s.layers, s.hidden), "token");
  add_bert_embeddings(in, part, s, tied && scores_tokens(head));
  layer_body(part, s);
  add_bert_head(in, part, s, head, traits, tied);
  out.parts.push_back(part.take());
}

void add_plain_layers(PartBuilder& part, const EncoderShape& s) {
  part.layers(s.layers, [&](PartBuilder& layer) { add_encoder_layer(layer, s); });
}

constexpr std::string_view kRobertaStems = "Roberta XLMRoberta Camembert";

}  // namespace

void read_bert(Fields& in, Network& out) {
  read_bert_like(in, out, {.title = "BERT encoder", .stems = "Bert", .labels_have_own_dense = false}, add_plain_layers);
}

/// BERT with a table of tasks.
void read_ernie_encoder(Fields& in, Network& out) {
  constexpr std::int64_t default_tasks = 3;
  const std::int64_t tasks =
      in.flag({"use_task_id"}, false) ? in.amount_or({"task_type_vocab_size"}, default_tasks) : 0;
  read_bert_like(in, out, {.title = "ERNIE encoder", .stems = "Ernie", .labels_have_own_dense = false},
                 [&](PartBuilder& part, const EncoderShape& s) {
                   part.table("task_type", tasks, s.hidden);
                   add_plain_layers(part, s);
                 });
}

void read_roberta(Fields& in, Network& out) {
  read_bert_like(in, out, {.title = "RoBERTa encoder", .stems = kRobertaStems}, add_plain_layers);
}

/// RoBERTa whose layers attend to a window, and from a few tokens, with projections of their own, to everything.
void read_longformer(Fields& in, Network& out) {
  constexpr std::int64_t default_window = 512;
  const Node* windows = in.find({"attention_window"});
  const bool listed = windows && windows->kind == Node::Kind::sequence;
  std::int64_t window = listed ? 0 : in.count_or({"attention_window"}, default_window);
  if (listed) {
    for (const std::int64_t one : in.amounts("attention_window")) window = std::max(window, one);
  }
  read_bert_like(in, out, {.title = "Longformer encoder", .stems = "Longformer"},
                 [&](PartBuilder& part, const EncoderShape& s) {
                   part.layers(s.layers, [&](PartBuilder& layer) {
                     add_encoder_layer(layer, s, static_cast<double>(window));
                     layer.linear("attention.global_qkv", s.hidden, s.hidden,
                                  {.count = 3, .role = TensorRole::attention, .sharding = Sharding::column, .uses = 0});
                   });
                 });
}

/// No token types; one table of relative positions for all layers.
void read_mpnet(Fields& in, Network& out) {
  constexpr std::int64_t default_buckets = 32;
  const std::int64_t buckets = in.count_or({"relative_attention_num_buckets"}, default_buckets);
  read_bert_like(in, out, {.title = "MPNet encoder", .stems = "MPNet", .token_types = 0},
                 [&](PartBuilder& part, const EncoderShape& s) {
                   part.table("relative_position", buckets, s.heads, TensorRole::position);
                   add_plain_layers(part, s);
                 });
}

/// Tables may be narrower than the layers; the discriminator tells real tokens from replaced ones.
void read_electra(Fields& in, Network& out) {
  warn_if_cut_down(in);
  const BertTraits traits{.title = "ELECTRA encoder", .stems = "Electra", .has_pooler = false};
  EncoderShape s = read_bert_shape(in, traits);
  constexpr std::int64_t default_width = 128;
  s.embedding = in.count_or({"embedding_size"}, default_width);
  const EncoderHead head = read_head(in, traits.stems);
  const bool generates = head == EncoderHead::language_model;
  const bool tied = in.flag({"tie_word_embeddings"}, true);
  PartBuilder part("encoder", shape_title(traits.title, s.layers, s.hidden), "token");
  add_bert_embeddings(in, part, s, tied && generates);
  if (s.embedding != s.hidden) part.linear("embedding_projection", s.hidden, s.embedding);
  add_plain_layers(part, s);
  if (generates) {
    add_language_head(part, s, tied);
  } else if (head == EncoderHead::pretraining) {
    part.linear("head.dense", s.hidden, s.hidden);
    part.linear("head.replaced", 1, s.hidden);
  } else {
    if (head == EncoderHead::choice) add_once_a_text(part, "head.summary", s.hidden, s.hidden);
    add_label_head(in, part, s, head, true);
  }
  out.parts.push_back(part.take());
}

/// Own names for everything, no token types, no pooler.
void read_distilbert(Fields& in, Network& out) {
  warn_if_cut_down(in);
  EncoderShape s;
  s.layers = in.count({"n_layers", "num_hidden_layers"});
  s.hidden = in.count({"dim", "hidden_size"});
  s.heads = in.count({"n_heads", "num_attention_heads"});
  s.intermediate = in.count({"hidden_dim", "intermediate_size"});
  s.vocab = in.count({"vocab_size"});
  s.embedding = s.hidden;
  s.head_dim = head_dim_of(in, s.hidden, s.heads, "n_heads");
  constexpr std::int64_t default_positions = 512;
  s.positions = in.count_or({"max_position_embeddings"}, default_positions);
  const EncoderHead head = read_head(in, "DistilBert");
  const bool tied = in.flag({"tie_word_embeddings"}, true);
  PartBuilder part("encoder", shape_title("DistilBERT encoder", s.layers, s.hidden), "token");
  add_bert_embeddings(in, part, s, tied && head == EncoderHead::language_model);
  add_plain_layers(part, s);
  if (head == EncoderHead::language_model) add_language_head(part, s, tied);
  if (head == EncoderHead::choice) add_once_a_text(part, "head.dense", s.hidden, s.hidden);
  add_label_head(in, part, s, head, true);
  out.parts.push_back(part.take());
}

/// Every item goes through the same layers again and again; the tables are narrower than the layers.
void read_albert(Fields& in, Network& out) {
  warn_if_cut_down(in);
  const BertTraits traits{.title = "ALBERT encoder", .stems = "Albert", .labels_have_own_dense = false};
  EncoderShape s = read_bert_shape(in, traits);
  constexpr std::int64_t default_width = 128;
  s.embedding = in.count_or({"embedding_size"}, default_width);
  const std::int64_t groups = in.count_or({"num_hidden_groups"}, 1);
  const std::int64_t inner = in.count_or({"inner_group_num"}, 1);
  const double rounds = static_cast<double>(s.layers) / static_cast<double>(groups);
  EncoderHead head = read_head(in, traits.stems);
  const bool tied = in.flag({"tie_word_embeddings"}, true);
  PartBuilder part("encoder", shape_title(traits.title, s.layers, s.hidden) + ", shared", "token", rounds);
  add_bert_embeddings(in, part, s, tied && scores_tokens(head));
  part.linear("embedding_projection", s.hidden, s.embedding, {.uses = 1});
  part.layers(bounded_product({groups, inner}), [&](PartBuilder& layer) { add_encoder_layer(layer, s); });
  NetworkPart built = part.take();
  PartBuilder top("", "", "token");
  add_bert_head(in, top, s, head, traits, tied);
  for (TensorGroup& tensor : top.part().tensors) built.tensors.push_back(std::move(tensor));
  out.parts.push_back(std::move(built));
}

}  // namespace gpuplan
