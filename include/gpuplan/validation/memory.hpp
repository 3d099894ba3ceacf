#pragma once
/// What gpuplan says about a measured row of inference memory: a language model served by an engine.
///
/// Metrics: `kv_bytes` (of the whole cache), `kv_bytes_per_device` and `kv_tokens` (of an engine that preallocates: its pool),
/// `activation_bytes_per_device`, `compute_buffer_bytes_per_device`, `non_torch_bytes_per_device`, `graph_bytes_per_device`,
/// `peak_bytes_per_device`, `reserved_bytes_per_device`, `fits`.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/deploy/deployment.hpp>
#include <gpuplan/memory/inference.hpp>
#include <gpuplan/validation/csv.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct MemoryRow {
  std::string id;
  std::string source;
  std::string engine;
  std::string engine_version;
  std::string model;
  std::string accelerator;
  std::string weights;
  std::string kv;
  std::string mode;
  std::string variant;
  std::string memory_kind;
  std::string metric;
  std::optional<double> bits;
  std::optional<std::int64_t> count, tp, pp, dp, input, output, batch, context;
  std::optional<double> concurrency, memory_fraction;
  double value = 0;  ///< bytes or tokens; for `fits` 1 or 0
};

/// Whether rows of that metric are of this kind.
bool is_memory_metric(std::string_view metric);

/// Throws InputError when a column is missing or a number is none.
std::vector<MemoryRow> read_memory_rows(const CsvTable& table, std::string_view origin);

struct MemoryPrediction {
  std::optional<double> value;      ///< in the row's unit; empty: none
  std::string how;                  ///< the format and engine, or why there is no prediction: `model.unknown`, …
  std::optional<double> low, high;  ///< its 80 % interval, where an overhead is in it; a verdict and a cache have none
};

/// Turns rows into footprints. Keeps the tensor lists that rows share; the catalogue must outlive it.
class MemoryPredictor {
 public:
  explicit MemoryPredictor(const Catalog& catalog) : catalog_(catalog) {}
  MemoryPrediction predict(const MemoryRow& row);

 private:
  const ServedModel* model_of(const MemoryRow& row, const Engine& engine, std::string& reason);

  const Catalog& catalog_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<ServedModel>> models_;
};

}  // namespace gpuplan
