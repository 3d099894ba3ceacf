#include <gpuplan/validation/errors.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

namespace gpuplan {
namespace {

std::map<std::string_view, double> rows_of_sources(std::span<const Prediction> predictions) {
  std::map<std::string_view, double> rows;
  for (const Prediction& p : predictions) rows[p.source] += 1;
  return rows;
}

// For intervals: a source of a few rows tells little of a tail, so that it weighs by its rows until it has enough of them.
std::vector<double> interval_weights(std::span<const Prediction> predictions) {
  constexpr double kEnough = 100;  // ten in each tail
  const auto rows = rows_of_sources(predictions);
  std::vector<double> weights;
  for (const Prediction& p : predictions) weights.push_back(std::min(1.0, kEnough / rows.at(p.source)));
  return weights;
}

std::vector<Weighted> weigh(std::span<const Prediction> predictions, double (Prediction::*value)() const,
                            const std::vector<double>& weights) {
  std::vector<Weighted> values;
  for (std::size_t i = 0; i < predictions.size(); ++i) values.push_back({(predictions[i].*value)(), weights[i]});
  return values;
}

}  // namespace

double weighted_quantile(std::vector<Weighted> values, double share) {
  if (values.empty()) return 0;
  std::stable_sort(values.begin(), values.end(),
                   [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double whole = 0;
  for (const Weighted& v : values) whole += v.weight;
  double sum = 0;
  for (const Weighted& v : values) {
    sum += v.weight;
    if (sum >= share * whole * (1 - 1e-12)) return v.value;
  }
  return values.back().value;
}

std::vector<double> source_weights(std::span<const Prediction> predictions) {
  const auto rows = rows_of_sources(predictions);
  std::vector<double> weights;
  weights.reserve(predictions.size());
  for (const Prediction& p : predictions) weights.push_back(1 / rows.at(p.source));
  return weights;
}

ErrorSummary summarize(std::span<const Prediction> predictions) {
  ErrorSummary s;
  s.rows = static_cast<std::int64_t>(predictions.size());
  s.sources = static_cast<std::int64_t>(rows_of_sources(predictions).size());
  if (predictions.empty()) return s;
  const auto errors = weigh(predictions, &Prediction::abs_error, source_weights(predictions));
  double sum = 0;
  double whole = 0;
  for (const Weighted& e : errors) {
    sum += e.value * e.weight;
    whole += e.weight;
  }
  s.median_abs_error = weighted_quantile(errors, 0.5);
  s.mean_abs_error = sum / whole;
  s.p90_abs_error = weighted_quantile(errors, 0.9);
  s.bias = weighted_quantile(weigh(predictions, &Prediction::time_ratio, source_weights(predictions)), 0.5);
  return s;
}

ResidualInterval residual_interval(std::span<const Prediction> predictions) {
  const auto n = static_cast<double>(predictions.size());
  const auto ratios = weigh(predictions, &Prediction::time_ratio, interval_weights(predictions));
  // Of n residuals and the one to come, the shares are of n + 1.
  const double low = std::max(0.1 * (n + 1) / n - 1 / n, 0.0);
  return {weighted_quantile(ratios, low), weighted_quantile(ratios, std::min(0.9 * (n + 1) / n, 1.0))};
}

double coverage(std::span<const Prediction> predictions, const ResidualInterval& interval) {
  const auto weights = interval_weights(predictions);
  double inside = 0;
  double whole = 0;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const double ratio = predictions[i].time_ratio();
    whole += weights[i];
    if (interval.low <= ratio && ratio <= interval.high) inside += weights[i];
  }
  return whole > 0 ? inside / whole : 0;
}

std::vector<Prediction> of_regime(std::span<const Prediction> predictions, Regime regime) {
  std::vector<Prediction> chosen;
  std::copy_if(predictions.begin(), predictions.end(), std::back_inserter(chosen),
               [&](const Prediction& p) { return p.regime == regime; });
  return chosen;
}

}  // namespace gpuplan
