// The predictors of measured rows. A line of `kPredictors` says which rows one claims; the first that does has them.

#include <gpuplan/validation/collectives.hpp>
#include <gpuplan/validation/memory.hpp>
#include <gpuplan/validation/parts.hpp>
#include <gpuplan/validation/parts_time.hpp>
#include <gpuplan/validation/predict.hpp>
#include <gpuplan/validation/training.hpp>
#include <gpuplan/validation/training_time.hpp>
#include <gpuplan/validation/validate.hpp>
#include <gpuplan/validation/weights.hpp>

#include <algorithm>
#include <array>

namespace gpuplan {
namespace {

constexpr std::array<std::string_view, 3> kWeightMetrics = {"file_bytes", "weights_bytes", "weights_bytes_per_device"};
constexpr std::array<std::string_view, 11> kTimeMetrics = {"ttft_s",
                                                           "tpot_s",
                                                           "itl_s",
                                                           "e2e_s",
                                                           "prefill_tokens_per_s",
                                                           "decode_tokens_per_s",
                                                           "output_tokens_per_s",
                                                           "output_tokens_per_s_per_device",
                                                           "total_tokens_per_s",
                                                           "requests_per_s",
                                                           "batch_latency_s"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Older tables have no column for the task: they are about text.
bool is_text(const RowKind& kind) { return !kind.training && (kind.task.empty() || kind.task == "text"); }

bool claims_weights(const RowKind& kind) { return !kind.training && contains(kWeightMetrics, kind.metric); }
void predict_weight_rows(const Catalog& catalog, const CsvTable& table, std::string_view origin,
                         std::span<ValidatedRow> rows) {
  const auto read = read_weights_rows(table, origin);
  GPUPLAN_ASSERT(read.size() == rows.size(), "every row that is claimed is read");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const WeightsPrediction p = predict_weights(catalog, read[i]);
    if (p.is_predicted()) rows[i].predicted = p.predicted;
    rows[i].how = p.how;
  }
}

bool claims_training(const RowKind& kind) {
  return kind.training && (kind.metric == "peak_bytes_per_device" || kind.metric == "reserved_bytes_per_device" ||
                           kind.metric == "fits");
}
void predict_training_rows(const Catalog& catalog, const CsvTable& table, std::string_view origin,
                           std::span<ValidatedRow> rows) {
  const auto read = read_training_rows(table, origin);
  GPUPLAN_ASSERT(read.size() == rows.size(), "every row that is claimed is read");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TrainingPrediction p = predict_training(catalog, read[i]);
    if (p.predicted) rows[i].predicted = p.value;
    rows[i].low = p.low;
    rows[i].high = p.high;
    rows[i].how = p.how;
  }
}

// Of language models; what trains on pictures is another network.
bool claims_training_time(const RowKind& kind) {
  constexpr std::array<std::string_view, 4> kTasks = {"pretrain", "full", "lora", "qlora"};
  return kind.training && contains(kTasks, kind.task) && is_training_time_metric(kind.metric);
}
void predict_training_time_rows(const Catalog& catalog, const CsvTable& table, std::string_view origin,
                                std::span<ValidatedRow> rows) {
  const auto read = read_training_time_rows(table, origin);
  GPUPLAN_ASSERT(read.size() == rows.size(), "every row that is claimed is read");
  const Ceilings ceilings(catalog);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto work = training_row_work(catalog, ceilings, read[i]);
    if (const auto* why = std::get_if<std::string>(&work)) {
      rows[i].how = *why;
      continue;
    }
    const auto& known = std::get<TrainingRowWork>(work);
    rows[i].predicted = predicted_value(known, constants_of(*known.framework));
    rows[i].how = known.framework->name;
  }
}

bool claims_text_memory(const RowKind& kind) { return is_text(kind) && is_memory_metric(kind.metric); }
void predict_text_memory(const Catalog& catalog, const CsvTable& table, std::string_view origin,
                         std::span<ValidatedRow> rows) {
  const auto read = read_memory_rows(table, origin);
  MemoryPredictor predictor(catalog);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const MemoryPrediction p = predictor.predict(read[i]);
    rows[i].predicted = p.value;
    rows[i].low = p.low;
    rows[i].high = p.high;
    rows[i].how = p.how;
  }
}

// Everything but text and what is trained: images, video, encoders.
bool claims_parts_memory(const RowKind& kind) {
  return !kind.training && !is_text(kind) &&
         (kind.metric == "peak_bytes_per_device" || kind.metric == "reserved_bytes_per_device" ||
          kind.metric == "fits");
}
void predict_parts_rows(const Catalog& catalog, const CsvTable& table, std::string_view origin,
                        std::span<ValidatedRow> rows) {
  const auto read = read_parts_rows(table, origin);
  GPUPLAN_ASSERT(read.size() == rows.size(), "every row that is claimed is read");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PartsPrediction p = predict_parts_memory(catalog, read[i]);
    rows[i].predicted = p.value;
    rows[i].low = p.low;
    rows[i].high = p.high;
    rows[i].how = p.how;
  }
}

bool claims_text_time(const RowKind& kind) { return is_text(kind) && contains(kTimeMetrics, kind.metric); }
void predict_text_time(const Catalog& catalog, const CsvTable& table, std::string_view origin,
                       std::span<ValidatedRow> rows) {
  const auto read = read_measured(table, origin);
  const Ceilings ceilings(catalog);
  RowReader reader(catalog, ceilings);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto work = reader.work_of(read[i]);
    if (const auto* skipped = std::get_if<Skipped>(&work)) {
      rows[i].how = skipped->reason;
      continue;
    }
    const auto& known = std::get<RowWork>(work);
    const Interval<double> value = predicted_interval(known);
    rows[i].predicted = value.value;
    rows[i].low = value.low;
    rows[i].high = value.high;
    rows[i].how = known.engine->name;
  }
}

bool claims_parts_time(const RowKind& kind) {
  return !kind.training && !is_text(kind) && is_parts_time_metric(kind.metric);
}
void predict_parts_time(const Catalog& catalog, const CsvTable& table, std::string_view origin,
                        std::span<ValidatedRow> rows) {
  const auto read = read_parts_time_rows(table, origin);
  GPUPLAN_ASSERT(read.size() == rows.size(), "every row that is claimed is read");
  const Ceilings ceilings(catalog);
  PartsRowReader reader(catalog, ceilings);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto work = reader.work_of(read[i]);
    if (const auto* reason = std::get_if<std::string>(&work)) {
      rows[i].how = *reason;
      continue;
    }
    const auto& known = std::get<PartsRowWork>(work);
    rows[i].predicted = predicted_value(known, constants_of(*known.runtime));
    rows[i].how = known.runtime->name;
  }
}

bool claims_collectives(const RowKind& kind) {
  return kind.metric == "collective_s" || kind.metric == "bus_bytes_per_s";
}
void predict_collective_rows(const Catalog& catalog, const CsvTable& table, std::string_view origin,
                             std::span<ValidatedRow> rows) {
  const auto read = read_collective_rows(table, origin);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CollectivePrediction p = predict_collective(catalog, read[i]);
    rows[i].predicted = p.value;
    rows[i].how = p.how;
  }
}

// Training first: its tables share metrics with those of inference.
constexpr RowPredictor kPredictors[] = {
    {"collectives", claims_collectives, predict_collective_rows},
    {"training memory", claims_training, predict_training_rows},
    {"training time", claims_training_time, predict_training_time_rows},
    {"weights", claims_weights, predict_weight_rows},
    {"memory of language models", claims_text_memory, predict_text_memory},
    {"time of language models", claims_text_time, predict_text_time},
    {"memory of other networks", claims_parts_memory, predict_parts_rows},
    {"time of other networks", claims_parts_time, predict_parts_time},
};

}  // namespace

std::span<const RowPredictor> row_predictors() { return kPredictors; }

}  // namespace gpuplan
