#pragma once
/// What gpuplan says about a measured row of a network that does not generate token by token: data/measured/images.csv.
///
/// Metrics `peak_bytes_per_device`, `reserved_bytes_per_device` and `fits`. A row whose `memory_kind` is `device` counts the driver's
/// context too. What the allocator holds cannot exceed the device, whatever it would hold on a larger one.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/job/parts.hpp>
#include <gpuplan/validation/csv.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct PartsRow {
  std::string id;
  std::string source;
  std::string engine;  ///< a runtime
  std::string model;
  std::string accelerator;
  std::string weights;  ///< a format; empty: the model's own
  std::string variant;  ///< `key=value` pairs joined by ';'
  std::string memory_kind;
  std::string metric;
  std::optional<std::int64_t> batch, input;
  std::optional<double> image_pixels;
  double value = 0;  ///< bytes; for `fits` 1 or 0
};

/// What the row's columns ask for.
PartsJob parts_job_of(const PartsRow& row);

/// Throws InputError when a column is missing or a number is none.
std::vector<PartsRow> read_parts_rows(const CsvTable& table, std::string_view origin);

struct PartsPrediction {
  std::optional<double> value;      ///< in the row's unit; empty: none
  std::string how;                  ///< the fullest part, or why there is no prediction: `model.unknown`, …
  std::optional<double> low, high;  ///< its 80 % interval; a verdict has none
};
PartsPrediction predict_parts_memory(const Catalog& catalog, const PartsRow& row);

}  // namespace gpuplan
