// CLIP: a text encoder and a vision tower whose outputs are projected to one space; each also alone.

#include "../family.hpp"
#include "encoder_blocks.hpp"
#include "vision_transformer.hpp"

namespace gpuplan {
namespace {

constexpr std::int64_t kProjection = 512;  // CLIPConfig, CLIPTextConfig and CLIPVisionConfig

/// Sizes that a text config leaves out are CLIPTextConfig's.
EncoderShape read_clip_text_shape(Fields& in) {
  constexpr std::int64_t default_width = 512;
  constexpr std::int64_t default_vocab = 49408;
  EncoderShape s;
  s.hidden = in.count_or({"hidden_size"}, default_width);
  s.intermediate = in.count_or({"intermediate_size"}, 4 * default_width);
  s.layers = in.count_or({"num_hidden_layers"}, 12);
  s.heads = in.count_or({"num_attention_heads"}, 8);
  s.vocab = in.count_or({"vocab_size"}, default_vocab);
  s.positions = in.count_or({"max_position_embeddings"}, 77);
  s.head_dim = head_dim_of(in, s.hidden, s.heads, "num_attention_heads");
  return s;
}

PartBuilder clip_text_encoder(const EncoderShape& s) {
  PartBuilder part("text_encoder", shape_title("CLIP text encoder", s.layers, s.hidden), "token");
  add_token_table(part, s.vocab, s.hidden);
  part.table("position", s.positions, s.hidden, TensorRole::position);
  part.layers(s.layers, [&](PartBuilder& layer) { add_encoder_layer(layer, s); });
  part.norm("final_norm", s.hidden);
  return part;
}

/// The text model of the Chinese CLIP is BERT without its pooler.
PartBuilder bert_text_encoder(Fields& in) {
  constexpr std::int64_t default_vocab = 30522;
  EncoderShape s;
  s.hidden = in.count_or({"hidden_size"}, 768);
  s.intermediate = in.count_or({"intermediate_size"}, 3072);
  s.layers = in.count_or({"num_hidden_layers"}, 12);
  s.heads = in.count_or({"num_attention_heads"}, 12);
  s.vocab = in.count_or({"vocab_size"}, default_vocab);
  s.head_dim = head_dim_of(in, s.hidden, s.heads, "num_attention_heads");
  PartBuilder part("text_encoder", shape_title("BERT encoder", s.layers, s.hidden), "token");
  add_token_table(part, s.vocab, s.hidden);
  part.table("position", in.count_or({"max_position_embeddings"}, 512), s.hidden, TensorRole::position);
  part.table("token_type", in.amount_or({"type_vocab_size"}, 2), s.hidden);
  part.norm("embedding_norm", s.hidden);
  part.layers(s.layers, [&](PartBuilder& layer) { add_encoder_layer(layer, s); });
  return part;
}

/// The projection of one text or image; the scale of the scores stands with the images.
void add_projection(PartBuilder& part, std::int64_t projection, std::int64_t hidden) {
  part.linear("projection", projection, hidden, {.bias = false, .uses = part.part().item == "token" ? 0.0 : 1.0});
}

std::int64_t vision_width(Fields& vision) { return vision.count_or({"hidden_size"}, VisionShape{}.hidden); }

/// The vision tower, its projection, and two tables of concepts to look for.
void read_safety_checker(Fields& in, Network& out) {
  constexpr std::int64_t concepts = 17;
  constexpr std::int64_t special_concepts = 3;
  Fields vision = nested(in, {"vision_config", "vision_config_dict"});
  const std::int64_t projection = in.count_or({"projection_dim"}, kProjection);
  PartBuilder part = build_clip_vision_tower(vision);
  add_projection(part, projection, vision_width(vision));
  part.table("concepts", concepts + special_concepts, projection);
  part.vector("concept_weights", TensorRole::state, concepts + special_concepts);
  out.parts.push_back(part.take());
}

void add_vision_of_pair(Fields& in, Network& out, std::int64_t projection) {
  Fields vision = nested(in, {"vision_config", "vision_config_dict"});
  PartBuilder part = build_clip_vision_tower(vision);
  add_projection(part, projection, vision_width(vision));
  part.vector("logit_scale", TensorRole::state, 1);
  out.parts.push_back(part.take());
}

void note_class(Fields& in, std::initializer_list<std::string_view> known) {
  const std::string name = class_of(in);
  for (const std::string_view one : known) {
    if (name.empty() || name == one) return;
  }
  in.not_modelled("the head of class '" + name + "'");
}

/// Where a config holds both models the part's own numbers stand inside.
Fields own_config(const Fields& in, std::string_view key) { return in.has({key}) ? nested(in, {key}) : in; }

}  // namespace

void read_clip_text(Fields& in, Network& out) {
  Fields text = own_config(in, "text_config");
  const EncoderShape s = read_clip_text_shape(text);
  PartBuilder part = clip_text_encoder(s);
  if (class_of(in).ends_with("WithProjection")) {
    add_projection(part, text.count_or({"projection_dim"}, kProjection), s.hidden);
  }
  out.parts.push_back(part.take());
}

void read_clip_vision(Fields& in, Network& out) {
  Fields vision = own_config(in, "vision_config");
  PartBuilder part = build_clip_vision_tower(vision);
  const std::string name = class_of(in);
  if (name.ends_with("WithProjection")) {
    add_projection(part, vision.count_or({"projection_dim"}, kProjection), vision_width(vision));
  } else if (name.ends_with("ForImageClassification")) {
    part.linear("head.labels", read_labels(in), vision_width(vision), {.uses = 1});
  }
  out.parts.push_back(part.take());
}

void read_clip(Fields& in, Network& out) {
  const std::string name = class_of(in);
  if (name.ends_with("SafetyChecker")) return read_safety_checker(in, out);
  if (name.starts_with("CLIPText")) return read_clip_text(in, out);
  if (name.starts_with("CLIPVision") || name.ends_with("ForImageClassification")) return read_clip_vision(in, out);
  note_class(in, {"CLIPModel"});
  const std::int64_t projection = in.count_or({"projection_dim"}, kProjection);
  Fields text = nested(in, {"text_config", "text_config_dict"});
  const EncoderShape s = read_clip_text_shape(text);
  PartBuilder part = clip_text_encoder(s);
  add_projection(part, projection, s.hidden);
  out.parts.push_back(part.take());
  add_vision_of_pair(in, out, projection);
}

void read_chinese_clip(Fields& in, Network& out) {
  note_class(in, {"ChineseCLIPModel"});
  const std::int64_t projection = in.count_or({"projection_dim"}, kProjection);
  Fields text = nested(in, {"text_config", "text_config_dict"});
  PartBuilder part = bert_text_encoder(text);
  add_projection(part, projection, text.count_or({"hidden_size"}, 768));
  out.parts.push_back(part.take());
  add_vision_of_pair(in, out, projection);
}

}  // namespace gpuplan
