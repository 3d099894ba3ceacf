#pragma once
/// A network as the parts that people name: a language model, a vision tower, text encoders, a denoising transformer, a VAE.
///
///     const Network flux = read_model_config_file("FLUX.1-dev").network;
///     for (const NetworkPart& part : flux.parts) parameters(part.tensors);
///
/// The language model that generates token by token is `decoder` as well, because cache, operators and layouts come from its
/// architecture; every other part is its tensors, how often an item goes through them, and its attention.

#include <gpuplan/base/units.hpp>
#include <gpuplan/model/architecture.hpp>
#include <gpuplan/model/scheme.hpp>
#include <gpuplan/model/tensor_group.hpp>
#include <gpuplan/model/tensors.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// Scores and weighted sums of equal layers; the projections are tensors.
struct PartAttention {
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  double queries = 1;  ///< positions of one item
  double keys = 0;     ///< positions that each query sees; 0: all of the item's text, whose length the caller says
  double window = 0;   ///< of the text at most so many; 0: all
};

struct NetworkPart {
  std::string name;  ///< `language_model`, `vision_tower`, `projector`, `transformer`, `unet`, `text_encoder`, `vae`, …
  std::string title;  ///< `CLIP text encoder: 12 layers, width 768`
  std::string item;   ///< what `uses` counts for: `token`, `image of 336 x 336`, `step at 1024 x 1024`, `30 s of audio`
  std::vector<TensorGroup> tensors;  ///< names without the part's
  std::vector<PartAttention> attention;
  std::string format;     ///< a scheme's name when the part has its own, whatever the model's is (`fp32` of a VAE)
  bool quantized = true;  ///< false: quantizers leave the whole part alone
  bool loaded = true;     ///< false: loaded only on request (layers for speculation)
  double text = 0;            ///< positions among `uses` that are of text: they do not grow with the picture
  double frames_at_once = 0;  ///< of a video, when the part works through it so many frames at a time; 0: all
};

/// What a picture or video measures; no width: something else, or not known.
struct ItemSize {
  double width = 0;
  double height = 0;
  double frames = 1;
  [[nodiscard]] bool is_known() const { return width > 0 && height > 0; }
};
/// The size that `item` of a part tells: `step at 832 x 480 x 81 frames`.
ItemSize item_size(const NetworkPart& part);

struct Network {
  std::string name;
  std::string family;
  std::optional<Architecture> decoder;  ///< then a part `language_model` holds its tensors
  std::vector<NetworkPart> parts;       ///< what text, images or sound go through, in that order
};

inline constexpr std::string_view kLanguageModel = "language_model";

/// A network that is a language model alone.
Network network_of(Architecture decoder);

/// The language model's part of a decoder.
NetworkPart language_model_part(const Architecture& decoder);

const NetworkPart* find_part(const Network& network, std::string_view name);  ///< null when there is none

/// Sum over the parts that are loaded. Tensors that parts share are counted where they stand first.
std::int64_t parameters(const Network& network);
/// Those that one token passes through: of experts only the chosen ones.
std::int64_t active_parameters(const Network& network);

/// FLOPs of one item of a part, a multiply-add as two.
/// @param length  positions of the text the item stands in, for attention over all of it
Flop flops_of(const NetworkPart& part, double length);

/// What makes a part impossible: a negative or zero size, more parameters than can be counted; empty when it can be.
std::vector<Problem> check_part(const NetworkPart& part);

}  // namespace gpuplan
