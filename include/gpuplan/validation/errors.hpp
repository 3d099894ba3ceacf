#pragma once
/// How far predictions are from measurements. In a group each source weighs the same, whatever its number of rows.

#include <gpuplan/validation/predict.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gpuplan {

struct ErrorSummary {
  std::int64_t rows = 0;
  std::int64_t sources = 0;
  double median_abs_error = 0;
  double mean_abs_error = 0;
  double p90_abs_error = 0;
  double bias = 1;  ///< median of measured over predicted time
};

/// One value with its weight; for quantiles.
struct Weighted {
  double value = 0;
  double weight = 1;
};
/// The least value whose cumulated weight reaches `share` of the whole. 0 for nothing.
double weighted_quantile(std::vector<Weighted> values, double share);

/// Weights that give each source the same sum.
std::vector<double> source_weights(std::span<const Prediction> predictions);

ErrorSummary summarize(std::span<const Prediction> predictions);

/// The low and high factor on predicted time that hold the middle 80 % of the measured times: split-conformal quantiles of the
/// ratios. Sources weigh the same, those of fewer than 100 rows by their rows.
struct ResidualInterval {
  double low = 1;
  double high = 1;
};
ResidualInterval residual_interval(std::span<const Prediction> predictions);

/// Share of predictions, weighed like that, whose measured time lies within the factors.
double coverage(std::span<const Prediction> predictions, const ResidualInterval& interval);

/// Those of one regime.
std::vector<Prediction> of_regime(std::span<const Prediction> predictions, Regime regime);

}  // namespace gpuplan
