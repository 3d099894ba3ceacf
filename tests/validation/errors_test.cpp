#include "catch.hpp"

#include <gpuplan/validation/errors.hpp>

#include <string>

using namespace gpuplan;

namespace {

Prediction row(const std::string& source, double measured, double predicted, Metric metric = Metric::tpot_s) {
  return {"id", Regime::decode, source, metric, measured, predicted};
}

}  // namespace

TEST_CASE("errors: a rate and a time that are off alike have the same time ratio", "[validation]") {
  CHECK(row("a", 2, 1).time_ratio() == Approx(2));
  CHECK(row("a", 50, 100, Metric::output_tokens_per_s).time_ratio() == Approx(2));
  CHECK(row("a", 2, 1).abs_error() == Approx(0.5));
}

TEST_CASE("errors: each source weighs the same", "[validation]") {
  // Nine rows that are right and one source with one row that is off by 100 %: the mean is one half.
  std::vector<Prediction> rows(9, row("many", 1, 1));
  rows.push_back(row("one", 1, 2));
  const ErrorSummary s = summarize(rows);
  CHECK(s.rows == 10);
  CHECK(s.sources == 2);
  CHECK(s.mean_abs_error == Approx(0.5));
  CHECK(s.p90_abs_error == Approx(1));
  CHECK(s.median_abs_error == Approx(0).margin(1e-12));
}

TEST_CASE("errors: a weighted quantile is the first value that reaches the share", "[validation]") {
  const std::vector<Weighted> values = {{3, 1}, {1, 1}, {2, 2}};
  CHECK(weighted_quantile(values, 0.25) == 1);
  CHECK(weighted_quantile(values, 0.5) == 2);
  CHECK(weighted_quantile(values, 0.75) == 2);
  CHECK(weighted_quantile(values, 0.76) == 3);
  CHECK(weighted_quantile({}, 0.5) == 0);
}

TEST_CASE("errors: an interval of residuals holds the middle 80 %", "[validation]") {
  std::vector<Prediction> rows;
  for (int i = 1; i <= 99; ++i) rows.push_back(row("a", i, 100));
  const ResidualInterval interval = residual_interval(rows);
  CHECK(interval.low == Approx(0.10).margin(0.011));
  CHECK(interval.high == Approx(0.90).margin(0.011));
  CHECK(coverage(rows, interval) == Approx(0.8).margin(0.03));
}

TEST_CASE("errors: nothing summarised is nothing", "[validation]") {
  const ErrorSummary s = summarize({});
  CHECK(s.rows == 0);
  CHECK(s.median_abs_error == 0);
}
