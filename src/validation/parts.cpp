#include <gpuplan/validation/parts.hpp>

#include "table_row.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/memory/parts.hpp>
#include <gpuplan/model/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::array<std::string_view, 7> kColumns = {"id",          "source", "engine", "model",
                                                      "accelerator", "metric", "value"};

PartsPrediction refused(std::string why) { return {std::nullopt, std::move(why), {}, {}}; }

bool holds(const PartsMemory& memory, const Runtime& runtime) {
  const double most = static_cast<double>(runtime.map_elements.or_else(0));
  const bool maps_fit = most <= 0 || std::none_of(memory.parts.begin(), memory.parts.end(),
                                                  [&](const PartFootprint& part) { return part.largest_map > most; });
  return maps_fit && memory.verdict != FitVerdict::does_not_fit;
}

// What is shown of a footprint of so many bytes.
double shown_of(const PartsRow& row, const PartsMemory& memory, Bytes total) {
  const Bytes context = memory.terms.of("context");
  const Bytes held = std::min(total, memory.capacity) - context;
  return (row.memory_kind == "device" ? held + context : held) / bytes(1);
}

}  // namespace

PartsJob parts_job_of(const PartsRow& row) {
  PartsJob job;
  job.batch = row.batch.value_or(1);
  job.length = row.input.value_or(0);
  if (row.image_pixels) job.width = job.height = static_cast<std::int64_t>(std::lround(std::sqrt(*row.image_pixels)));
  const std::string_view fused = value_of_key(row.variant, "xformers");
  if (!fused.empty()) job.flash_attention = fused == "yes";
  if (value_of_key(row.variant, "attention") == "plain") job.flash_attention = false;
  job.offload = parse_offload(value_of_key(row.variant, "offload")).value.value_or(Offload::none);
  return job;
}

std::vector<PartsRow> read_parts_rows(const CsvTable& table, std::string_view origin) {
  std::vector<Problem> problems;
  require_columns(table, kColumns, origin, problems);
  if (!problems.empty()) throw InputError(std::move(problems));
  std::vector<PartsRow> rows;
  for (const CsvRecord& record : table.records) {
    TableRow in(table, record, origin, problems);
    PartsRow row;
    const std::pair<std::string_view, std::string PartsRow::*> texts[] = {
        {"id", &PartsRow::id},           {"source", &PartsRow::source},           {"engine", &PartsRow::engine},
        {"model", &PartsRow::model},     {"accelerator", &PartsRow::accelerator}, {"weights", &PartsRow::weights},
        {"variant", &PartsRow::variant}, {"memory_kind", &PartsRow::memory_kind}, {"metric", &PartsRow::metric}};
    for (const auto& [column, member] : texts) row.*member = in.text(column);
    row.batch = in.number("batch", parse_count);
    row.input = in.number("input_tokens", parse_count);
    row.image_pixels = in.number("image_pixels", parse_number);
    row.value = in.required("value", parse_number);
    rows.push_back(std::move(row));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return rows;
}

PartsPrediction predict_parts_memory(const Catalog& catalog, const PartsRow& row) {
  const ModelPreset* preset = catalog.find_model(row.model);
  if (!preset) return refused("model.unknown");
  const Accelerator* accelerator = catalog.find_accelerator(row.accelerator);
  if (!accelerator || !catalog.visible_memory(*accelerator).known()) return refused("accelerator.unknown");
  const Runtime* runtime = catalog.find_runtime(row.engine);
  if (!runtime) return refused("engine.unknown");
  const auto scheme = parse_scheme(row.weights.empty() ? "bf16" : row.weights).value;
  if (!scheme) return refused("weights.unknown");
  StoredNetwork model;
  model.network = read_model_preset(*preset).network;
  if (model.network.decoder || model.network.parts.empty()) return refused("model.not_modelled");
  model.scheme = *scheme;
  const PartsMemory memory =
      parts_memory({&model, runtime, catalog.visible_memory(*accelerator), parts_job_of(row), &catalog}, nullptr);
  PartsPrediction prediction;
  prediction.how = memory.parts[memory.fullest].name + ": " + memory.parts[memory.fullest].peak.operation;
  if (row.metric == "fits") {
    prediction.value = holds(memory, *runtime) ? 1 : 0;
    return prediction;
  }
  prediction.value = shown_of(row, memory, memory.terms.total());
  prediction.low = shown_of(row, memory, memory.terms.low());
  prediction.high = shown_of(row, memory, memory.terms.high());
  return prediction;
}

}  // namespace gpuplan
