#include <gpuplan/memory/part_sizes.hpp>

#include <gpuplan/memory/parts.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace gpuplan {
namespace {

constexpr double kTile = 512;  // pixels a side that an autoencoder works on at a time when it is tiled
constexpr std::string_view kToken = "token";

double as_double(std::int64_t n) { return static_cast<double>(n); }

bool about(double a, double b) { return std::abs(a - b) < 0.5; }

}  // namespace

bool is_autoencoder(const NetworkPart& part) { return part.name.starts_with("vae"); }

PartPositions::PartPositions(const NetworkPart& part, const PartScale& scale) : part_(part), scale_(scale) {
  for (const TensorGroup& tensor : part.tensors) known_.push_back(tensor.uses);
  is_text_ = part.item == kToken;
}

double PartPositions::of(double uses) const {
  if (is_text_) return uses * scale_.length;
  if (uses <= 1 || about(uses, part_.text)) return uses;
  const double grown = scale_.pixels * scale_.frames;
  const double picture = uses - part_.text;
  if (part_.text > 0 && picture > 1 &&
      std::any_of(known_.begin(), known_.end(), [&](double n) { return about(n, picture); }))
    return picture * grown + part_.text;
  return uses * grown;
}

double PartPositions::keys_of(const PartAttention& attention) const {
  if (attention.keys <= 0) return attention.window > 0 ? std::min(attention.window, scale_.length) : scale_.length;
  if (about(attention.keys, attention.queries)) return of(attention.queries);
  const bool of_one_frame = item_size(part_).frames > 1 && !about(attention.keys, part_.text);
  return of_one_frame ? attention.keys * scale_.pixels : attention.keys;
}

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

}  // namespace gpuplan
