// BLIP: a vision tower and a BERT decoder that attends to it and writes captions.

#include "../family.hpp"
#include "encoder_blocks.hpp"
#include "vision_transformer.hpp"

namespace gpuplan {
namespace {

constexpr std::int64_t kPatch = 16;     // BlipVisionConfig
constexpr std::int64_t kImage = 384;    // BlipVisionConfig
constexpr std::int64_t kVocab = 30524;  // BlipTextConfig

/// As CLIP's tower, with biased patches and without a first norm.
NetworkPart blip_vision_tower(const VisionShape& s) {
  const auto patches = static_cast<double>(s.patches);
  PartBuilder part("vision_tower", shape_title("BLIP vision tower", s.layers, s.hidden), image_item(s.image, s.image),
                   patches + 1);
  part.vector("class_token", TensorRole::position, s.hidden);
  part.conv("patches", s.hidden, s.channels, bounded_product({s.patch, s.patch}), {.uses = patches});
  part.table("position", s.patches + 1, s.hidden, TensorRole::position);
  add_vision_layers(part, s);
  part.norm("final_norm", s.hidden);
  return part.take();
}

EncoderShape read_text_shape(Fields& in) {
  EncoderShape s;
  s.hidden = in.count_or({"hidden_size"}, 768);
  s.intermediate = in.count_or({"intermediate_size"}, 3072);
  s.layers = in.count_or({"num_hidden_layers"}, 12);
  s.heads = in.count_or({"num_attention_heads"}, 8);
  s.vocab = in.count_or({"vocab_size"}, kVocab);
  s.positions = in.count_or({"max_position_embeddings"}, 512);
  s.head_dim = head_dim_of(in, s.hidden, s.heads, "num_attention_heads");
  return s;
}

/// Published weights hold the output matrix apart from the table.
NetworkPart blip_text_decoder(Fields& in, const VisionShape& vision) {
  const EncoderShape s = read_text_shape(in);
  const auto seen = static_cast<double>(vision.patches + 1);
  PartBuilder part("text_decoder", shape_title("BLIP text decoder", s.layers, s.hidden), "token");
  add_token_table(part, s.vocab, s.hidden);
  part.table("position", s.positions, s.hidden, TensorRole::position);
  part.norm("embedding_norm", s.hidden);
  part.layers(s.layers, [&](PartBuilder& layer) {
    add_encoder_layer(layer, s);
    // Keys and values of the image are made once for all of its text.
    add_attention(layer, s, {.name = "cross_attention", .memory = vision.hidden, .memory_uses = 0});
    layer.attend(s.heads, s.head_dim, 1, seen);
    layer.norm("cross_norm", s.hidden);
  });
  part.linear("head.dense", s.hidden, s.hidden);
  part.norm("head.norm", s.hidden);
  part.linear("head.output", s.vocab, s.hidden, {.role = TensorRole::head});
  return part.take();
}

}  // namespace

void read_blip(Fields& in, Network& out) {
  const std::string name = class_of(in);
  if (!name.empty() && name != "BlipForConditionalGeneration") return in.unreadable("class '" + name + "'");
  Fields vision = nested(in, {"vision_config"});
  Fields text = nested(in, {"text_config"});
  const VisionShape s = read_vision_shape(vision, kPatch, kImage);
  out.parts.push_back(blip_vision_tower(s));
  out.parts.push_back(blip_text_decoder(text, s));
}

}  // namespace gpuplan
