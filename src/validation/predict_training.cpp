#include "training_job.hpp"

#include <gpuplan/base/error.hpp>

#include <utility>

namespace gpuplan {
namespace {

// A row that does not say counts what its framework's logs call memory.
MemoryKind kind_of(std::string_view text) {
  if (text == "allocated") return MemoryKind::allocated;
  return text == "reserved" ? MemoryKind::reserved : MemoryKind::device;
}

bool counts(MemoryKind kind, std::string_view term) {
  if (term == "context" || term == "communication") return kind == MemoryKind::device;
  return term != "fragmentation" || kind != MemoryKind::allocated;
}

// As far as the terms of the fullest phase may err together.
void set_interval(TrainingPrediction& prediction) {
  Bytes below;
  Bytes above;
  for (const BreakdownTerm<Bytes>& term : prediction.memory.peak().terms.terms()) {
    if (!counts(prediction.kind, term.id)) continue;
    below += term.value - term.low;
    above += term.high - term.value;
  }
  if (below + above <= Bytes{}) return;
  prediction.low = prediction.value - below / bytes(1);
  prediction.high = prediction.value + above / bytes(1);
}

}  // namespace

TrainingPrediction predict_training(const Catalog& catalog, const TrainingRow& row) {
  TrainingPrediction out;
  out.row = row;
  const auto without = [&](std::string_view why) {
    out.how = why;
    return out;
  };
  const TrainingFramework* known = known_framework(catalog, row);
  if (!known) return without("framework.unknown");
  const bool said = !row.memory_kind.empty() && row.memory_kind != "unstated";
  out.kind = row.metric == "reserved_bytes_per_device"
                 ? MemoryKind::reserved
                 : kind_of(said ? std::string_view(row.memory_kind) : known->reports);
  const Accelerator* accelerator = catalog.find_accelerator(row.accelerator);
  if (!accelerator) return without("accelerator.unknown");
  const auto architecture = architecture_for(catalog, row);
  if (!architecture) return without("model.unknown");
  TrainingMemoryInputs in;
  in.job = job_of(row, *known);
  if (!check_training(in.job).empty()) return without("shape.unknown");
  const TrainingFramework framework = framework_of(*known, row);
  const ServedModel model = model_of(*architecture, row);
  in.model = &model;
  in.framework = &framework;
  in.visible = catalog.visible_memory(*accelerator);
  out.memory = training_memory(in, nullptr);
  out.predicted = true;
  out.how = to_string(out.memory.peak().phase);
  const auto stage = framework.reports_first_stage ? std::optional<std::int64_t>(0) : std::nullopt;
  out.value = row.metric == "fits" ? (out.memory.verdict == FitVerdict::does_not_fit ? 0 : 1)
                                   : reported_peak(out.memory, out.kind, stage) / bytes(1);
  if (row.metric != "fits") set_interval(out);
  return out;
}

std::vector<TrainingPrediction> predict_training_memory(const Catalog& catalog, std::span<const TrainingRow> rows) {
  std::vector<TrainingPrediction> predictions;
  predictions.reserve(rows.size());
  for (const TrainingRow& row : rows) predictions.push_back(predict_training(catalog, row));
  return predictions;
}

}  // namespace gpuplan
