#pragma once
/// What the sizes that a job asks for mean for one part of a network: how many items, how many positions of each.
///
///     const PartScale scale = scale_of(model, part, job);
///     PartPositions(part, scale).of(tensor.uses);

#include <gpuplan/job/parts.hpp>
#include <gpuplan/model/stored_scheme.hpp>

#include <optional>
#include <vector>

namespace gpuplan {

/// A network in its formats.
struct StoredNetwork {
  Network network;
  Scheme scheme;
  std::vector<ModuleRule> rules;  ///< modules that a checkpoint stores otherwise
  std::optional<Bytes> stored;    ///< what its files hold by their headers
};

struct PartScale {
  double pixels = 1;  ///< times as many as at the part's own size
  double frames = 1;
  double length = 1;  ///< tokens of each text
  double items = 1;   ///< at once
};
/// An autoencoder that works image by image or in tiles has one item at once; guidance doubles a denoiser's.
PartScale scale_of(const StoredNetwork& model, const NetworkPart& part, const PartsJob& job);

/// Positions of a part as they are at the size asked for. `part` and `scale` must outlive it.
class PartPositions {
 public:
  PartPositions(const NetworkPart& part, const PartScale& scale);

  /// `uses` of a tensor: text stays, pixels grow, and positions of both grow by their pixels.
  [[nodiscard]] double of(double uses) const;
  /// Positions that each query sees: all of them, those of one frame, or as many as always (windows, text).
  [[nodiscard]] double keys_of(const PartAttention& attention) const;

 private:
  const NetworkPart& part_;
  const PartScale& scale_;
  std::vector<double> known_;
  bool is_text_ = false;
};

/// Whether a part turns pictures into latents or back.
bool is_autoencoder(const NetworkPart& part);

}  // namespace gpuplan
