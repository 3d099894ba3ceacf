#pragma once
/// How far the memory of training jobs is from published measurements: data/measured/training.csv and files of that format.
///
/// What a row leaves open is what its framework does by default (data/training.yaml). What is compared is what the row counts:
/// `memory_kind` says tensors, the allocator's blocks, or the device; a row that does not say is taken as the device's.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/memory/training.hpp>
#include <gpuplan/validation/csv.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// One row of training: what ran where, and what was measured.
struct TrainingRow {
  std::string id;
  std::string source;
  std::string task;    ///< pretrain, full, lora, qlora
  std::string engine;  ///< a training framework
  std::string model;
  std::string arch;  ///< JSON, when the catalogue has no such model
  std::string accelerator;
  std::string precision;
  std::string zero;
  std::string recompute;
  std::string optimizer;
  std::string flash_attention;
  std::string variant;  ///< `key=value` pairs joined by ';'
  std::string memory_kind;
  std::string metric;
  std::string intra_link;       ///< between the devices of a node
  std::string flop_convention;  ///< what a rate of FLOPs counts: `model_full`, `hw_full`
  std::optional<std::int64_t> count, nodes, devices_per_node, sequence, global_batch, micro_batch, grad_accum, tp, pp,
      vpp, dp, cp, ep, lora_rank;
  double network_gbit = 0;       ///< of a node; 0: not said
  double samples_to_target = 0;  ///< of a run that ends at a quality; 0: not said
  bool sequence_parallel = false;
  double value = 0;  ///< bytes, seconds, a rate; for `fits` 1 or 0
};

/// The rows whose metric is `peak_bytes_per_device`, `reserved_bytes_per_device` or `fits` and that are not marked `score=no`.
/// Throws InputError when a column is missing or a number is none.
std::vector<TrainingRow> read_training_rows(std::string_view text, std::string_view origin);
std::vector<TrainingRow> read_training_rows(const CsvTable& table, std::string_view origin);

struct TrainingPrediction {
  TrainingRow row;
  bool predicted = false;
  double value = 0;                 ///< bytes; for `fits` 1 or 0
  std::optional<double> low, high;  ///< its 80 % interval; a verdict has none
  std::string how;  ///< the fullest phase, or why there is no prediction: `model.unknown`, `shape.unknown`, …
  MemoryKind kind = MemoryKind::device;
  TrainingMemory memory;
  /// |predicted / measured − 1|; for `fits` 0 when right, else 1; 1 when there is no prediction
  [[nodiscard]] double abs_error() const;
};
TrainingPrediction predict_training(const Catalog& catalog, const TrainingRow& row);
std::vector<TrainingPrediction> predict_training_memory(const Catalog& catalog, std::span<const TrainingRow> rows);

/// Each source weighs the same. `mean` is what counts for `fits`.
struct TrainingSummary {
  std::int64_t rows = 0;
  std::int64_t sources = 0;
  std::int64_t unpredicted = 0;
  double median = 0;
  double mean = 0;
  double p90 = 0;
  double bias = 1;  ///< median of predicted over measured
};
TrainingSummary summarize_training(std::span<const TrainingPrediction> predictions);

}  // namespace gpuplan
