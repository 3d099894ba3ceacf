#pragma once
/// Measured rows of any kind, what gpuplan says about each, and how far off that is.
///
///     Validation v = validate_table(catalog, read_csv(text, path), path);
///     summarize_rows(v.rows, {"metric"}).front().mean_abs_error
///
/// Rows are taken to the first predictor of a table that claims them by metric and task (`row_predictors` in the source: to add one
/// is to add a line). A scored row without a prediction counts as error 1.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/validation/csv.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct ValidatedRow {
  std::string id, source, engine, task, mode, model, accelerator, metric;
  double measured = 0;  ///< in the metric's unit
  std::optional<double> predicted;
  std::optional<double> low, high;  ///< the 80 % interval, where there is one
  std::string how;                  ///< what was predicted with, or why there is no prediction: `model.unknown`, …
  /// |predicted / measured − 1|; of `fits` 0 or 1; 1 without a prediction.
  [[nodiscard]] double abs_error() const;
};

/// By what a row is claimed.
struct RowKind {
  std::string_view metric;
  std::string_view task;
  bool training = false;  ///< the table has the columns of training
};

/// Fills `predicted` and `how` of `rows`, which are the records of `table` in its order.
struct RowPredictor {
  std::string_view name;
  bool (*claims)(const RowKind& kind);
  void (*predict)(const Catalog& catalog, const CsvTable& table, std::string_view origin, std::span<ValidatedRow> rows);
};
std::span<const RowPredictor> row_predictors();

struct Validation {
  std::int64_t rows = 0;             ///< in the table
  std::vector<ValidatedRow> scored;  ///< those that are not marked `score=no`
  std::set<std::string> metrics;     ///< of all rows
};
/// @param metrics  only these; empty: all
/// Throws InputError when a column is missing or a number is none.
Validation validate_table(const Catalog& catalog, const CsvTable& table, std::string_view origin,
                          std::span<const std::string> metrics = {});

/// What rows can be grouped by: metric, mode, engine, source, task, model, accelerator (or gpu). Empty for another word.
std::optional<std::string> group_value(const ValidatedRow& row, std::string_view key);
std::span<const std::string_view> group_keys();

/// Errors of a group in which each source weighs the same.
struct RowSummary {
  std::vector<std::string> by;  ///< a value a key
  std::int64_t rows = 0;
  std::int64_t sources = 0;
  std::int64_t predicted = 0;
  double median_abs_error = 0;
  double mean_abs_error = 0;
  double p90_abs_error = 0;
  double worst_abs_error = 0;
  double bias = 1;                    ///< median of predicted over measured, of the rows predicted
  std::optional<double> coverage_80;  ///< share of the rows with an interval that lie in it; empty: none has one
};
/// One summary a combination of values, in their order; without keys one of all rows.
std::vector<RowSummary> summarize_rows(std::span<const ValidatedRow> rows, std::span<const std::string> keys);

}  // namespace gpuplan
