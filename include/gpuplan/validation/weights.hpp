#pragma once
/// How far counted weights are from the sizes of published files and from what engines report to have loaded.
///
/// A GGUF file is priced by the rules of its mix and its metadata. One whose stated average is not what the rules give is a mix
/// of somebody's own, and its average is what is known of it.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/validation/csv.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// One row of the measurement format with the metric `file_bytes`, `weights_bytes` or `weights_bytes_per_device`.
struct WeightsRow {
  std::string id;
  std::string source;
  std::string model;
  std::string format;          ///< column `weights`
  std::optional<double> bits;  ///< column `weights_bits`: the average a weight, as the source states it
  std::string metric;
  std::int64_t tp = 1;
  std::int64_t pp = 1;
  double value = 0;  ///< bytes
};

/// The rows of those metrics that are not marked `score=no`.
/// Throws InputError when a column is missing or a number is none.
std::vector<WeightsRow> read_weights_rows(std::string_view text, std::string_view origin);
std::vector<WeightsRow> read_weights_rows(const CsvTable& table, std::string_view origin);

struct WeightsPrediction {
  WeightsRow row;
  double predicted = 0;  ///< bytes; 0: none
  std::string how;       ///< the scheme's name, or why there is none: `model.unknown`, `format.unknown`, …
  [[nodiscard]] bool is_predicted() const { return predicted > 0; }
  [[nodiscard]] double abs_error() const;  ///< |predicted / measured − 1|
};
WeightsPrediction predict_weights(const Catalog& catalog, const WeightsRow& row);

struct WeightsSummary {
  std::int64_t rows = 0;
  std::int64_t unpredicted = 0;
  double median = 0;  ///< of the absolute errors, all rows alike
  double p95 = 0;
  double most = 0;
};
WeightsSummary summarize_weights(std::span<const WeightsPrediction> predictions);

}  // namespace gpuplan
