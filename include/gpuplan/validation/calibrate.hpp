#pragma once
/// Fits the constants of engines to measured rows, and the intervals to what remains.
///
/// Minimised is a Huber loss on the logarithm of measured over predicted time by Levenberg and Marquardt's least squares. Rows of one
/// source and regime count at most as ten independent ones. A pull keeps an engine near the engine it is `like`, that one near the fit
/// over all engines, and this near usual values: few rows move constants little. Constants stay within what physics allows (`kBounds`
/// in the source). The search is deterministic: the same rows give the same digits.
///
/// Intervals are split-conformal quantiles of how each source is predicted by the others, by regime: of the engine's own rows where
/// there are `kLeastRows` of two sources, else of all engines' rows.

#include <gpuplan/validation/errors.hpp>
#include <gpuplan/validation/predict.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

inline constexpr std::int64_t kLeastRows = 20;

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
  EngineConstants pooled;                 ///< of all engines together
  std::vector<Prediction> predictions;    ///< of all rows, by the constants just fitted
  std::vector<Prediction> left_out;       ///< of all rows, each by what the other sources give
  std::vector<Skipped> skipped;
};

/// The constants that fit these rows best, drawn weakly to `usual` and rounded to three digits. `works` is updated: how many requests an arrival rate keeps
/// in flight depends on the constants.
EngineConstants fit_constants(RowReader& reader, std::vector<RowWork>& works, const EngineConstants& usual);

/// Where the fit over all engines starts and is drawn to: the middle of what kernels reach.
EngineConstants usual_constants();

/// The rows' work, and why others have none.
std::vector<RowWork> works_of(RowReader& reader, std::span<const MeasuredRow> rows, std::vector<Skipped>& skipped);

/// Each group of rows predicted by constants fitted to all the others.
/// @param start  where the fits begin
using GroupOf = std::function<std::string(const MeasuredRow&)>;
std::vector<Prediction> predict_left_out(const Catalog& catalog, RowReader& reader, const std::vector<RowWork>& works,
                                         const EngineConstants& start, const GroupOf& group_of);

Calibration calibrate(const Catalog& catalog, std::span<const MeasuredRow> rows);

/// The text of data/engines.yaml with the fitted lines and the `intervals:` blocks replaced, all else as it was.
std::string with_calibration(std::string_view engines_yaml, const Calibration& calibration);

}  // namespace gpuplan
