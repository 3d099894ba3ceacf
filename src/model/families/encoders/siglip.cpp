// SigLIP: both encoders project inside, so that there are no projections beside them; scores have a scale and a bias.

#include "../family.hpp"
#include "encoder_blocks.hpp"
#include "vision_transformer.hpp"

namespace gpuplan {
namespace {

/// Sizes that a text config leaves out are SiglipTextConfig's.
NetworkPart siglip_text_encoder(Fields in) {
  constexpr std::int64_t default_vocab = 32000;
  EncoderShape s;
  s.hidden = in.count_or({"hidden_size"}, 768);
  s.intermediate = in.count_or({"intermediate_size"}, 3072);
  s.layers = in.count_or({"num_hidden_layers"}, 12);
  s.heads = in.count_or({"num_attention_heads"}, 12);
  s.vocab = in.count_or({"vocab_size"}, default_vocab);
  s.head_dim = head_dim_of(in, s.hidden, s.heads, "num_attention_heads");
  PartBuilder part("text_encoder", shape_title("SigLIP text encoder", s.layers, s.hidden), "token");
  add_token_table(part, s.vocab, s.hidden);
  part.table("position", in.count_or({"max_position_embeddings"}, 64), s.hidden, TensorRole::position);
  part.layers(s.layers, [&](PartBuilder& layer) { add_encoder_layer(layer, s); });
  part.norm("final_norm", s.hidden);
  add_once_a_text(part, "head", in.count_or({"projection_size"}, s.hidden), s.hidden);
  return part.take();
}

void read_siglip_like(Fields& in, Network& out, Fields vision) {
  const std::string name = class_of(in);
  const Fields text = in.has({"text_config"}) ? nested(in, {"text_config"}) : in;
  if (name.ends_with("TextModel")) return out.parts.push_back(siglip_text_encoder(text));
  const bool any_resolution = in.text({"model_type"}).starts_with("siglip2");
  PartBuilder tower = build_siglip_vision_tower(vision, {.any_resolution = any_resolution});
  if (name.ends_with("VisionModel")) return out.parts.push_back(tower.take());
  if (name.ends_with("ForImageClassification")) {
    tower.linear("head.labels", read_labels(in), read_vision_shape(vision, 1).hidden, {.uses = 1});
    return out.parts.push_back(tower.take());
  }
  if (!name.empty() && !name.ends_with("Model")) in.not_modelled("the head of class '" + name + "'");
  tower.vector("logit_scale_and_bias", TensorRole::state, 2);
  out.parts.push_back(siglip_text_encoder(nested(in, {"text_config"})));
  out.parts.push_back(tower.take());
}

}  // namespace

void read_siglip(Fields& in, Network& out) {
  read_siglip_like(in, out, in.has({"vision_config"}) ? nested(in, {"vision_config"}) : in);
}

void read_siglip_text(Fields& in, Network& out) { out.parts.push_back(siglip_text_encoder(in)); }

void read_siglip_vision(Fields& in, Network& out) { out.parts.push_back(siglip_vision_tower(in)); }

}  // namespace gpuplan
