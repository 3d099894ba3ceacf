// ModernBERT: norms before the blocks, gated MLPs without biases, rotary positions, windows in most layers.

#include "../family.hpp"
#include "encoder_blocks.hpp"

namespace gpuplan {
namespace {

constexpr std::int64_t kWindow = 128;
constexpr std::int64_t kGlobalEvery = 3;

struct ModernShape : EncoderShape {
  bool attention_bias = false;
  bool mlp_bias = false;
  bool norm_bias = false;
  std::int64_t window = kWindow;
  std::int64_t global_layers = 0;  ///< the first and every n-th after it
};

ModernShape read_modern_shape(Fields& in) {
  ModernShape s;
  static_cast<EncoderShape&>(s) = read_encoder_shape(in);
  s.positions = 0;
  s.attention_bias = in.flag({"attention_bias"}, false);
  s.mlp_bias = in.flag({"mlp_bias"}, false);
  s.norm_bias = in.flag({"norm_bias"}, false);
  s.window = in.count_or({"local_attention"}, kWindow);
  const std::int64_t every = in.count_or({"global_attn_every_n_layers"}, kGlobalEvery);
  s.global_layers = (s.layers + every - 1) / every;
  return s;
}

void add_layers(PartBuilder& part, const ModernShape& s) {
  const auto attend = [&](double window) {
    return [&s, window](PartBuilder& layer) { layer.attend_text(s.heads, s.head_dim, window); };
  };
  part.layers(s.global_layers, attend(0));
  part.layers(s.layers - s.global_layers, attend(static_cast<double>(s.window)));
  part.layers(s.layers, [&](PartBuilder& layer) {
    add_attention(layer, s, {.qkv_bias = s.attention_bias, .output_bias = s.attention_bias});
    add_mlp(layer, s, {.gated = true, .up_bias = s.mlp_bias, .down_bias = s.mlp_bias});
    layer.norm("mlp_norm", s.hidden, 1, s.norm_bias);
  });
  // The first layer's input is normed by the embedding already.
  part.layers(s.layers - 1, [&](PartBuilder& layer) { layer.norm("attention_norm", s.hidden, 1, s.norm_bias); });
  part.norm("final_norm", s.hidden, 1, s.norm_bias);
}

void add_head(Fields& in, PartBuilder& part, const ModernShape& s, EncoderHead head, bool tied) {
  if (head == EncoderHead::none) return;
  const bool once = head == EncoderHead::text_labels || head == EncoderHead::choice;
  part.linear("head.dense", s.hidden, s.hidden,
              {.bias = in.flag({"classifier_bias"}, false), .uses = once ? 0.0 : 1.0});
  part.norm("head.norm", s.hidden, 1, s.norm_bias);
  if (head == EncoderHead::language_model) {
    if (!tied) part.linear("head.output", s.vocab, s.hidden, {.bias = false, .role = TensorRole::head});
    if (in.flag({"decoder_bias"}, true)) part.vector("head.output_bias", TensorRole::bias, s.vocab);
    return;
  }
  const std::int64_t labels = head == EncoderHead::span ? 2 : head == EncoderHead::choice ? 1 : read_labels(in);
  part.linear("head.labels", labels, s.hidden, {.uses = once ? 0.0 : 1.0});
}

}  // namespace

void read_modernbert(Fields& in, Network& out) {
  warn_if_cut_down(in);
  const ModernShape s = read_modern_shape(in);
  const EncoderHead head = read_head(in, "ModernBert");
  const bool tied = in.flag({"tie_word_embeddings"}, true);
  PartBuilder part("encoder", shape_title("ModernBERT encoder", s.layers, s.hidden), "token");
  add_token_table(part, s.vocab, s.hidden, tied && head == EncoderHead::language_model);
  part.norm("embedding_norm", s.hidden, 1, s.norm_bias);
  add_layers(part, s);
  add_head(in, part, s, head, tied);
  out.parts.push_back(part.take());
}

}  // namespace gpuplan
