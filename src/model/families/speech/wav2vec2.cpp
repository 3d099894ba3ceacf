// Speech encoders over raw samples: convolutions, a convolution as positions, transformer layers.

#include "../encoders/encoder_blocks.hpp"
#include "../family.hpp"

#include <algorithm>
#include <vector>

namespace gpuplan {
namespace {

constexpr double kSamples = 30 * 16000;  // 30 s at 16 kHz, the rate these networks are trained for
constexpr std::string_view kItem = "30 s of audio";
constexpr std::size_t kMostConvolutions = 64;

struct Convolution {
  std::int64_t width = 1;
  std::int64_t kernel = 1;
  double positions = 1;  ///< outputs for one item
};

struct SpeechTraits {
  std::string_view title;
  std::string_view stems;
  bool gated_distances = false;  ///< a table of distances, and a gate on it in every layer
};

struct SpeechShape : BlockShape {
  std::int64_t layers = 1;
  std::vector<Convolution> convolutions;
  bool conv_bias = false;
  bool norm_everywhere = false;  ///< after every convolution, else a group norm after the first
  bool stable_norm = false;
};

std::vector<std::int64_t> amounts_or(Fields& in, std::string_view key, std::vector<std::int64_t> otherwise) {
  return in.has({key}) ? in.amounts(key) : std::move(otherwise);
}

std::vector<Convolution> read_convolutions(Fields& in) {
  const auto widths = amounts_or(in, "conv_dim", {512, 512, 512, 512, 512, 512, 512});
  const auto kernels = amounts_or(in, "conv_kernel", {10, 3, 3, 3, 3, 2, 2});
  const auto strides = amounts_or(in, "conv_stride", {5, 2, 2, 2, 2, 2, 2});
  const bool fits = !widths.empty() && widths.size() <= kMostConvolutions && kernels.size() == widths.size() &&
                    strides.size() == widths.size();
  const auto zero = [](const std::vector<std::int64_t>& list) {
    return std::find(list.begin(), list.end(), 0) != list.end();
  };
  if (!fits || zero(widths) || zero(kernels) || zero(strides)) {
    in.wrong("conv_dim", "'conv_dim', 'conv_kernel' and 'conv_stride' do not describe the same convolutions",
             "lists of equal length, up to 64 whole numbers above 0");
    return {{}};
  }
  std::vector<Convolution> out;
  double positions = kSamples;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const auto stride = static_cast<double>(strides[i]);
    const double steps = (positions - static_cast<double>(kernels[i])) / stride;
    positions = std::max(1.0, static_cast<double>(static_cast<std::int64_t>(steps)) + 1);
    out.push_back({widths[i], kernels[i], positions});
  }
  return out;
}

SpeechShape read_speech_shape(Fields& in) {
  SpeechShape s;
  s.layers = in.count({"num_hidden_layers"});
  s.hidden = in.count({"hidden_size"});
  s.heads = in.count({"num_attention_heads"});
  s.intermediate = in.count({"intermediate_size"});
  s.head_dim = head_dim_of(in, s.hidden, s.heads, "num_attention_heads");
  s.convolutions = read_convolutions(in);
  s.conv_bias = in.flag({"conv_bias"}, false);
  s.norm_everywhere = in.text({"feat_extract_norm"}) == "layer";
  s.stable_norm = in.flag({"do_stable_layer_norm"}, false);
  return s;
}

void add_feature_extractor(PartBuilder& part, const SpeechShape& s) {
  std::int64_t inputs = 1;
  for (std::size_t i = 0; i < s.convolutions.size(); ++i) {
    const Convolution& c = s.convolutions[i];
    const std::string name = "convolution" + std::to_string(i);
    part.conv(name, c.width, inputs, c.kernel, {.bias = s.conv_bias, .uses = c.positions});
    if (s.norm_everywhere || i == 0) part.norm(name + "_norm", c.width);
    inputs = c.width;
  }
}

/// The kernel is kept as directions and a length for each of its positions (weight norm).
void add_position_convolution(Fields& in, PartBuilder& part, const SpeechShape& s) {
  constexpr std::int64_t default_kernel = 128;
  constexpr std::int64_t default_groups = 16;
  const std::int64_t kernel = in.count_or({"num_conv_pos_embeddings"}, default_kernel);
  part.conv("position", s.hidden, s.hidden, kernel,
            {.groups = in.count_or({"num_conv_pos_embedding_groups"}, default_groups)});
  if (in.flag({"conv_pos_batch_norm"}, false)) {
    part.norm("position_norm", s.hidden);
  } else {
    part.vector("position_length", TensorRole::state, kernel);
  }
}

/// Learned where parts of the input are masked in training.
bool has_mask_vector(const Fields& in) {
  constexpr std::string_view time = "mask_time_prob";  // 0.05 unless said
  const auto positive = [](const Node* node) {
    return node && node->scalar.find_first_of("123456789") != std::string::npos;
  };
  return !in.has({time}) || positive(in.find({time})) || positive(in.find({"mask_feature_prob"}));
}

void add_gated_distances(Fields& in, PartBuilder& part, const SpeechShape& s) {
  constexpr std::int64_t default_buckets = 320;
  constexpr std::int64_t gate = 8;
  part.table("relative_position", in.count_or({"num_buckets"}, default_buckets), s.heads, TensorRole::position);
  part.layers(s.layers, [&](PartBuilder& layer) {
    layer.linear("attention.gate", gate, s.head_dim,
                 {.role = TensorRole::attention, .uses = layer.positions() * static_cast<double>(s.heads)});
    layer.vector("attention.gate_scale", TensorRole::state, s.heads);
  });
}

void add_layers(Fields& in, PartBuilder& part, const SpeechShape& s, const SpeechTraits& traits) {
  const std::int64_t adapter = in.amount_or({"adapter_attn_dim"}, 0);
  part.layers(s.layers, [&](PartBuilder& layer) {
    add_encoder_layer(layer, s, layer.positions());
    if (adapter == 0 || !s.stable_norm) return;
    layer.norm("adapter.norm", s.hidden);
    layer.linear("adapter.down", adapter, s.hidden);
    layer.linear("adapter.up", s.hidden, adapter);
  });
  if (traits.gated_distances) add_gated_distances(in, part, s);
}

/// Convolutions with gates that shorten the sequence after the encoder; gives the width of its output.
std::int64_t add_adapter(Fields& in, PartBuilder& part, const SpeechShape& s) {
  if (!in.flag({"add_adapter"}, false)) return s.hidden;
  constexpr std::int64_t default_layers = 3;
  constexpr std::int64_t default_kernel = 3;
  const std::int64_t width = in.count_or({"output_hidden_size"}, s.hidden);
  if (width != s.hidden) {
    part.linear("adapter.projection", width, s.hidden);
    part.norm("adapter.norm", width);
  }
  const std::int64_t kernel = in.count_or({"adapter_kernel_size"}, default_kernel);
  const double shortened = part.positions() / static_cast<double>(in.count_or({"adapter_stride"}, 2));
  part.layers(
      in.amount_or({"num_adapter_layers"}, default_layers),
      [&](PartBuilder& layer) { layer.conv("convolution", 2 * width, width, kernel, {.uses = shortened}); }, "adapter");
  return width;
}

/// What learns to tell units of speech apart before there is text.
void add_quantizer(Fields& in, PartBuilder& part, const SpeechShape& s) {
  constexpr std::int64_t width = 256;
  const std::int64_t codes = in.count_or({"num_codevectors_per_group"}, 320);
  const std::int64_t groups = in.count_or({"num_codevector_groups"}, 2);
  const std::int64_t code_width = in.count_or({"codevector_dim"}, width);
  const std::int64_t projected = in.count_or({"proj_codevector_dim"}, width);
  part.table("quantizer.codes", bounded_product({codes, groups}), code_width / groups);
  part.linear("quantizer.scores", bounded_product({codes, groups}), s.convolutions.back().width);
  part.linear("head.hidden", projected, s.hidden);
  part.linear("head.codes", projected, code_width);
}

void add_classifier(Fields& in, PartBuilder& part, const SpeechShape& s) {
  constexpr std::int64_t default_width = 256;
  const std::int64_t width = in.count_or({"classifier_proj_size"}, default_width);
  if (in.flag({"use_weighted_layer_sum"}, false)) part.vector("head.layers", TensorRole::state, s.layers + 1);
  part.linear("head.dense", width, s.hidden);
  part.linear("head.labels", read_labels(in), width, {.uses = 1});
}

void add_speech_head(Fields& in, PartBuilder& part, const SpeechShape& s, const SpeechTraits& traits,
                     std::int64_t width) {
  const std::string name = class_of(in);
  if (name.ends_with("ForCTC")) {
    part.linear("head", in.count({"vocab_size"}), width, {.role = TensorRole::head});
  } else if (name.ends_with("ForPreTraining")) {
    add_quantizer(in, part, s);
  } else if (name.ends_with("ForSequenceClassification")) {
    add_classifier(in, part, s);
  } else {
    (void)read_head(in, traits.stems);  // says what it leaves out
  }
}

void read_speech_encoder(Fields& in, Network& out, const SpeechTraits& traits) {
  const SpeechShape s = read_speech_shape(in);
  PartBuilder part("encoder", shape_title(traits.title, s.layers, s.hidden), std::string(kItem),
                   s.convolutions.back().positions);
  add_feature_extractor(part, s);
  const std::int64_t features = s.convolutions.back().width;
  if (in.flag({"feat_proj_layer_norm"}, true)) part.norm("feature_norm", features);
  part.linear("feature_projection", s.hidden, features);
  if (has_mask_vector(in)) part.vector("mask", TensorRole::position, s.hidden);
  add_position_convolution(in, part, s);
  part.norm("encoder_norm", s.hidden);
  add_layers(in, part, s, traits);
  add_speech_head(in, part, s, traits, add_adapter(in, part, s));
  out.parts.push_back(part.take());
}

}  // namespace

void read_wav2vec2(Fields& in, Network& out) {
  read_speech_encoder(in, out, {.title = "wav2vec 2.0 encoder", .stems = "Wav2Vec2"});
}

void read_hubert(Fields& in, Network& out) {
  read_speech_encoder(in, out, {.title = "HuBERT encoder", .stems = "Hubert"});
}

void read_wavlm(Fields& in, Network& out) {
  read_speech_encoder(in, out, {.title = "WavLM encoder", .stems = "WavLM", .gated_distances = true});
}

}  // namespace gpuplan
