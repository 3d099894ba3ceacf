#include "part_activations.hpp"

#include <algorithm>
#include <cmath>

namespace gpuplan {
namespace {

constexpr double kTile = 512;  // pixels a side that an autoencoder works on at a time when it is tiled
constexpr std::string_view kToken = "token";

double as_double(std::int64_t n) { return static_cast<double>(n); }

bool is_autoencoder(const NetworkPart& part) { return part.name.starts_with("vae"); }

bool about(double a, double b) { return std::abs(a - b) < 0.5; }

// Positions of a part as they are at the size asked for.
class Positions {
 public:
  Positions(const NetworkPart& part, const PartScale& scale) : part_(part), scale_(scale) {
    for (const TensorGroup& tensor : part.tensors) known_.push_back(tensor.uses);
    is_text_ = part.item == kToken;
  }

  // `uses` of a tensor: text stays, pixels grow, and positions of both grow by their pixels.
  [[nodiscard]] double of(double uses) const {
    if (is_text_) return uses * scale_.length;
    if (uses <= 1 || about(uses, part_.text)) return uses;
    const double picture = uses - part_.text;
    if (part_.text > 0 && picture > 1 &&
        std::any_of(known_.begin(), known_.end(), [&](double n) { return about(n, picture); }))
      return picture * grown() + part_.text;
    return uses * grown();
  }
  // Positions that each query sees: all of them, those of one frame, or as many as always (windows, text).
  [[nodiscard]] double keys_of(const PartAttention& attention) const {
    if (attention.keys <= 0) return attention.window > 0 ? std::min(attention.window, scale_.length) : scale_.length;
    if (about(attention.keys, attention.queries)) return of(attention.queries);
    const bool of_one_frame = item_size(part_).frames > 1 && !about(attention.keys, part_.text);
    return of_one_frame ? attention.keys * scale_.pixels : attention.keys;
  }

 private:
  [[nodiscard]] double grown() const { return scale_.pixels * scale_.frames; }
  const NetworkPart& part_;
  const PartScale& scale_;
  std::vector<double> known_;
  bool is_text_ = false;
};

// Equal products side by side, whose results are there together: queries, keys and values, the chosen experts.
double side_by_side(const TensorGroup& tensor) {
  const bool together = tensor.role == TensorRole::attention || tensor.role == TensorRole::expert ||
                        tensor.role == TensorRole::shared_expert;
  return together ? as_double(tensor.count) / as_double(std::max<std::int64_t>(1, tensor.layers)) : 1;
}

Bytes held(const PartPeak& peak, const Runtime& runtime) {
  const double elements = runtime.map_copies.or_else(1) * peak.maps + runtime.layout_copies.or_else(0) * peak.layouts +
                          runtime.score_copies.or_else(1) * peak.scores;
  return peak.items * elements * peak.element;
}

}  // namespace

PartScale scale_of(const StoredNetwork& model, const NetworkPart& part, const PartsJob& job) {
  PartScale scale;
  scale.length = text_length(model.network, job, kUsualLength);
  scale.items = as_double(job.batch);
  const ItemSize own = item_size(part);
  if (own.is_known()) {
    double width = job.width > 0 ? as_double(job.width) : own.width;
    double height = job.height > 0 ? as_double(job.height) : own.height;
    double frames = job.frames > 0 && own.frames > 1 ? as_double(job.frames) : own.frames;
    if (part.frames_at_once > 0) frames = std::min(frames, part.frames_at_once);
    if (is_autoencoder(part) && job.vae != VaeMode::whole) scale.items = 1;
    if (is_autoencoder(part) && job.vae == VaeMode::tiled) {
      width = std::min(width, kTile);
      height = std::min(height, kTile);
    }
    scale.pixels = width * height / (own.width * own.height);
    scale.frames = frames / own.frames;
  }
  if (is_denoiser(part) && job.guidance.value_or(doubles_batch(part))) scale.items *= 2;
  return scale;
}

void add_activations(PartFootprint& into, const NetworkPart& part, const PartScale& scale, const Runtime& runtime,
                     bool stores_scores, Bytes element) {
  const Positions positions(part, scale);
  const bool narrow = element < bytes(4);
  const auto consider = [&](PartPeak peak) {
    peak.items = scale.items;
    peak.element = element;
    const Bytes all = held(peak, runtime);
    if (all <= into.activations) return;
    into.activations = all;
    into.peak = std::move(peak);
  };
  for (const TensorGroup& tensor : part.tensors) {
    if (!tensor.multiplies() || tensor.uses <= 0) continue;
    const bool convolves = tensor.role == TensorRole::convolution;
    const double n = positions.of(tensor.role == TensorRole::expert ? 1 : tensor.uses);
    const double share = tensor.role == TensorRole::expert ? tensor.uses : 1;
    const double input = n * as_double(tensor.columns) / as_double(std::max<std::int64_t>(1, tensor.kernel));
    const double output = n * as_double(tensor.rows) * share * side_by_side(tensor);
    if (convolves) into.largest_map = std::max(into.largest_map, scale.items * std::max(input, output));
    consider({tensor.name, 0, 2 * input + output, convolves && narrow ? input + output : 0, 0, {}});
  }
  for (const PartAttention& a : part.attention) {
    const double queries = positions.of(a.queries);
    const double keys = positions.keys_of(a);
    const double width = as_double(a.heads) * as_double(a.head_dim);
    // Residual and its norm, queries and result; keys and values.
    consider({"attention",
              0,
              4 * queries * width + 2 * std::min(keys, queries) * width,
              0,
              stores_scores ? as_double(a.heads) * queries * keys : 0,
              {}});
  }
}

}  // namespace gpuplan
