#pragma once
/// What encoders and encoder-decoders share: attention, MLP and layers as their modules list them, and the heads of
/// their classes.

#include "../fields.hpp"
#include "../part_builder.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuplan {

struct BlockShape {
  std::int64_t hidden = 1;
  std::int64_t heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t intermediate = 1;
};

/// A text encoder with one table of tokens.
struct EncoderShape : BlockShape {
  std::int64_t layers = 1;
  std::int64_t vocab = 1;
  std::int64_t embedding = 1;    ///< width of the tables
  std::int64_t positions = 0;    ///< rows of the learned positions, offsets included; 0: none
  std::int64_t token_types = 0;  ///< 0: no such table
};

/// The sizes under the names of most encoders. Positions are 512 unless said, token types are not read.
EncoderShape read_encoder_shape(Fields& in);

/// `hidden` / `heads`; a problem when that is no whole number.
std::int64_t head_dim_of(Fields& in, std::int64_t hidden, std::int64_t heads, std::string_view heads_key);

/// The mapping under the key, or an empty one, whose numbers are the format's defaults.
Fields nested(const Fields& in, Keys keys);

/// Says that a config without `model_type` may be cut down.
void warn_if_cut_down(Fields& in);

struct AttentionOptions {
  std::string_view name = "attention";
  bool qkv_bias = true;
  bool k_bias = true;  ///< counts where `qkv_bias` does
  bool output_bias = true;
  std::int64_t memory = 0;  ///< width of what keys and values are made from; 0: the layer's own input
  double memory_uses = -1;  ///< how often an item goes through keys and values; negative: as through the rest
};
/// Query, key, value and output projections.
void add_attention(PartBuilder& layer, const BlockShape& shape, const AttentionOptions& o = {});

struct MlpOptions {
  bool gated = false;
  bool up_bias = true;
  bool down_bias = true;
};
void add_mlp(PartBuilder& layer, const BlockShape& shape, const MlpOptions& o = {});

/// Attention over `keys` positions (0: all of the text), MLP, and a layer norm for each: the layer of most encoders.
void add_encoder_layer(PartBuilder& layer, const BlockShape& shape, double keys = 0);

/// The table of tokens; `is_head` when the outputs are scored with it as well.
void add_token_table(PartBuilder& part, std::int64_t vocab, std::int64_t width, bool is_head = false);

/// A matrix that runs once a text, not a token.
void add_once_a_text(PartBuilder& part, std::string_view name, std::int64_t outputs, std::int64_t inputs,
                     bool bias = true);

/// What the class puts on top, told by its ending.
enum class EncoderHead : std::uint8_t {
  none,  ///< `Model`, and where no class is named
  language_model,
  pretraining,
  next_sentence,
  text_labels,
  token_labels,
  span,
  choice,
};
/// The first of `architectures`, or empty.
std::string class_of(const Fields& in);
/// @param stems  what classes of this family begin with, a blank between. A class of another name is code of its own:
///               not readable where the config says so (`auto_map`), else its head is what is left out.
EncoderHead read_head(Fields& in, std::string_view stems);
/// How many labels a classifier has: `id2label`, else `num_labels`, else two.
std::int64_t read_labels(Fields& in);

/// `BERT encoder: 12 layers, width 768`: the title of a part.
std::string shape_title(std::string_view what, std::int64_t layers, std::int64_t width);

}  // namespace gpuplan
