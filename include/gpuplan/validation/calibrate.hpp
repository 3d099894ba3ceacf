#pragma once
/// Fits the constants of engines to measured rows, and the intervals to what remains.
///
/// Minimised is a Huber loss on the logarithm of measured over predicted time, weighed so that each regime counts the same and
/// within a regime each source, plus a weak pull: of the fit over all engines to usual values, of an engine's to that fit. Constants stay within what physics allows (`kBounds` in the source). The search is
/// deterministic: the same rows give the same digits.
///
/// An engine is fitted by itself when it has at least `kLeastRows` rows, of at least two sources or on at least `kManyDevices` kinds of
/// device; else it takes the constants fitted to all engines together. The same holds for the interval of each of its regimes.

#include <gpuplan/validation/errors.hpp>
#include <gpuplan/validation/predict.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

inline constexpr std::int64_t kLeastRows = 20;
inline constexpr std::int64_t kManyDevices = 8;

struct CalibratedInterval {
  Regime regime = Regime::decode;
  ResidualInterval factors;
  std::int64_t rows = 0;  ///< that the quantiles rest on
  std::int64_t sources = 0;
  bool pooled = false;
};

struct CalibratedEngine {
  std::string name;
  EngineConstants constants;
  std::vector<CalibratedInterval> intervals;
  bool pooled = false;
  std::int64_t rows = 0;
  std::int64_t sources = 0;
};

struct Calibration {
  std::vector<CalibratedEngine> engines;  ///< in the catalogue's order
  std::vector<Prediction> predictions;    ///< of all rows, by the constants just fitted
  std::vector<Skipped> skipped;
};

/// The constants that fit these rows best, drawn weakly to `usual` and rounded to three digits. `works` is updated: how many requests an arrival rate keeps
/// in flight depends on the constants.
EngineConstants fit_constants(RowReader& reader, std::vector<RowWork>& works, const EngineConstants& usual);

/// Where the fit over all engines starts and is drawn to: the middle of what kernels reach.
EngineConstants usual_constants();

Calibration calibrate(const Catalog& catalog, std::span<const MeasuredRow> rows);

/// The text of data/engines.yaml with the fitted lines and the `intervals:` blocks replaced, all else as it was.
std::string with_calibration(std::string_view engines_yaml, const Calibration& calibration);

}  // namespace gpuplan
