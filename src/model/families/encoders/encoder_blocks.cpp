#include "encoder_blocks.hpp"

#include "../family.hpp"

#include <vector>

namespace gpuplan {
namespace {

constexpr std::int64_t kDefaultPositions = 512;
constexpr std::int64_t kDefaultLabels = 2;

struct HeadRow {
  std::string_view ending;
  EncoderHead head;
};
constexpr HeadRow kHeads[] = {
    // an ending that ends with another stands before it
    {"ForPreTraining", EncoderHead::pretraining},
    {"ForMaskedLM", EncoderHead::language_model},
    {"ForCausalLM", EncoderHead::language_model},
    {"ForConditionalGeneration", EncoderHead::language_model},
    {"WithLMHeadModel", EncoderHead::language_model},
    {"LMHeadModel", EncoderHead::language_model},
    {"MTModel", EncoderHead::language_model},
    {"ForNextSentencePrediction", EncoderHead::next_sentence},
    {"ForSequenceClassification", EncoderHead::text_labels},
    {"ForTokenClassification", EncoderHead::token_labels},
    {"ForQuestionAnswering", EncoderHead::span},
    {"ForMultipleChoice", EncoderHead::choice},
    {"EncoderModel", EncoderHead::none},
    {"Model", EncoderHead::none},
};

}  // namespace

EncoderShape read_encoder_shape(Fields& in) {
  EncoderShape s;
  s.layers = in.count({"num_hidden_layers"});
  s.hidden = in.count({"hidden_size"});
  s.heads = in.count({"num_attention_heads"});
  s.intermediate = in.count({"intermediate_size"});
  s.vocab = in.count({"vocab_size"});
  s.head_dim = head_dim_of(in, s.hidden, s.heads, "num_attention_heads");
  s.embedding = s.hidden;
  s.positions = in.count_or({"max_position_embeddings"}, kDefaultPositions);
  return s;
}

std::int64_t head_dim_of(Fields& in, std::int64_t hidden, std::int64_t heads, std::string_view heads_key) {
  if (!in.sound()) return 1;  // one of the two is not known
  if (hidden % heads != 0) {
    in.wrong(heads_key,
             "hidden size " + std::to_string(hidden) + " is no multiple of " + std::to_string(heads) + " heads",
             "a divisor of the hidden size");
  }
  return hidden / heads;
}

Fields nested(const Fields& in, Keys keys) {
  static const Node empty = [] {
    Node node;
    node.kind = Node::Kind::mapping;
    return node;
  }();
  for (const std::string_view key : keys) {
    const Node* found = in.find({key});
    if (found && found->kind == Node::Kind::mapping && !found->items.empty()) return in.inside(*found);
  }
  return in.inside(empty);
}

void warn_if_cut_down(Fields& in) {
  if (in.has({"model_type"})) return;
  in.warn("model.partial_config", "the config names no model_type: it may be cut down, and defaults are taken");
}

void add_attention(PartBuilder& layer, const BlockShape& shape, const AttentionOptions& o) {
  const std::int64_t width = shape.heads * shape.head_dim;
  const std::int64_t memory = o.memory > 0 ? o.memory : shape.hidden;
  const std::string name(o.name);
  LinearOptions query{.bias = o.qkv_bias, .role = TensorRole::attention, .sharding = Sharding::column};
  LinearOptions key = query;
  key.uses = o.memory_uses;
  LinearOptions value = key;
  key.bias = o.qkv_bias && o.k_bias;
  layer.linear(name + ".q", width, shape.hidden, query);
  layer.linear(name + ".k", width, memory, key);
  layer.linear(name + ".v", width, memory, value);
  layer.linear(name + ".output", shape.hidden, width,
               {.bias = false, .role = TensorRole::attention, .sharding = Sharding::row});
  if (o.output_bias) layer.vector(name + ".output_bias", TensorRole::bias, shape.hidden);
}

void add_mlp(PartBuilder& layer, const BlockShape& shape, const MlpOptions& o) {
  layer.linear("mlp.up", shape.intermediate, shape.hidden,
               {.count = o.gated ? 2 : 1, .bias = o.up_bias, .role = TensorRole::mlp, .sharding = Sharding::column});
  layer.linear("mlp.down", shape.hidden, shape.intermediate,
               {.bias = false, .role = TensorRole::mlp, .sharding = Sharding::row});
  if (o.down_bias) layer.vector("mlp.down_bias", TensorRole::bias, shape.hidden);
}

void add_encoder_layer(PartBuilder& layer, const BlockShape& shape, double keys) {
  add_attention(layer, shape);
  layer.attend(shape.heads, shape.head_dim, layer.positions(), keys);
  add_mlp(layer, shape);
  layer.norm("norm", shape.hidden, 2);
}

void add_token_table(PartBuilder& part, std::int64_t vocab, std::int64_t width, bool is_head) {
  part.add({"embedding", TensorRole::embedding, Sharding::vocabulary, 1, vocab, width, 0, is_head ? 1.0 : 0.0});
}

void add_once_a_text(PartBuilder& part, std::string_view name, std::int64_t outputs, std::int64_t inputs, bool bias) {
  part.linear(name, outputs, inputs, {.bias = bias, .uses = 0});
}

std::string class_of(const Fields& in) {
  const std::vector<std::string> classes = in.texts("architectures");
  return classes.empty() ? in.text({"_class_name"}) : classes.front();
}

EncoderHead read_head(Fields& in, std::string_view stems) {
  const std::string name = class_of(in);
  if (name.empty()) return EncoderHead::none;
  for (const HeadRow& row : kHeads) {
    if (!name.ends_with(row.ending)) continue;
    if (has_word(stems, std::string_view(name).substr(0, name.size() - row.ending.size()))) return row.head;
  }
  if (in.has({"auto_map"})) {
    in.unreadable("class '" + name + "', code of its own");
  } else {
    in.not_modelled("the head of class '" + name + "'");
  }
  return EncoderHead::none;
}

std::int64_t read_labels(Fields& in) {
  const Node* named = in.find({"id2label"});
  if (named && named->kind == Node::Kind::mapping && !named->items.empty()) {
    return static_cast<std::int64_t>(named->items.size());
  }
  return in.count_or({"num_labels"}, kDefaultLabels);
}

std::string shape_title(std::string_view what, std::int64_t layers, std::int64_t width) {
  return std::string(what) + ": " + std::to_string(layers) + " layers, width " + std::to_string(width);
}

}  // namespace gpuplan
