#include <gpuplan/validation/parts_time.hpp>

#include "table_row.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/model/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace gpuplan {
namespace {

enum class Counts : std::uint8_t { latency, items, tokens, audio };
constexpr std::array<std::pair<std::string_view, Counts>, 8> kMetrics = {{{"batch_latency_s", Counts::latency},
                                                                          {"step_s", Counts::latency},
                                                                          {"images_per_s", Counts::items},
                                                                          {"samples_per_s", Counts::items},
                                                                          {"requests_per_s", Counts::items},
                                                                          {"documents_per_s", Counts::items},
                                                                          {"total_tokens_per_s", Counts::tokens},
                                                                          {"audio_speed", Counts::audio}}};

Counts counts_of(std::string_view metric) {
  for (const auto& [name, counts] : kMetrics) {
    if (name == metric) return counts;
  }
  return Counts::latency;
}

bool is_32_bit_tensor_format(std::string_view weights) { return weights == "tf32"; }

bool trains(const PartsTimeRow& row) { return row.mode == "training"; }

PartsJob job_of(const PartsTimeRow& row) {
  PartsJob job = parts_job_of(row);
  if (row.steps) job.steps = *row.steps;
  if (value_of_key(row.variant, "packed") == "yes") job.length = std::max<std::int64_t>(1, job.length / 2);
  return job;
}

}  // namespace

bool is_parts_time_metric(std::string_view metric) {
  return std::any_of(kMetrics.begin(), kMetrics.end(), [&](const auto& known) { return known.first == metric; });
}

std::vector<PartsTimeRow> read_parts_time_rows(const CsvTable& table, std::string_view origin) {
  const std::vector<PartsRow> read = read_parts_rows(table, origin);
  std::vector<Problem> problems;
  std::vector<PartsTimeRow> rows;
  for (std::size_t i = 0; i < read.size(); ++i) {
    TableRow in(table, table.records[i], origin, problems);
    PartsTimeRow& row = rows.emplace_back();
    static_cast<PartsRow&>(row) = read[i];
    row.version = in.text("engine_version");
    row.mode = in.text("mode");
    row.count = in.number("count", parse_count);
    row.steps = in.number("steps", parse_count);
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return rows;
}

const Runtime* PartsRowReader::runtime_of(const PartsTimeRow& row) const {
  constexpr std::string_view kBenchmark = "mlperf:";
  std::string name(value_of_key(row.variant, "backend"));
  if (name.empty() || !catalog_.find_runtime(name)) name = row.engine;
  if (name.starts_with(kBenchmark)) name.erase(0, kBenchmark.size());
  if (trains(row)) return catalog_.find_runtime(name + "-training");
  const Runtime* runtime = catalog_.find_runtime(name + "-" + row.version.substr(0, row.version.find('.')));
  if (!runtime) runtime = catalog_.find_runtime(name);
  if (runtime && value_of_key(row.variant, "compile") == "yes" && !runtime->compiled.empty())
    runtime = catalog_.find_runtime(runtime->compiled);
  return runtime;
}

const StoredNetwork* PartsRowReader::model_of(const PartsTimeRow& row, std::string& reason) {
  const std::string kept(value_of_key(row.variant, "kept"));
  const auto key = std::pair(row.model, row.weights + ";" + kept);
  if (const auto found = models_.find(key); found != models_.end()) return found->second.get();
  const ModelPreset* preset = catalog_.find_model(row.model);
  if (!preset) {
    reason = "model.unknown";
    return nullptr;
  }
  const std::string format = row.weights.empty() ? "bf16" : is_32_bit_tensor_format(row.weights) ? "fp32" : row.weights;
  const auto scheme = parse_scheme(format).value;
  if (!scheme) {
    reason = "weights.unknown";
    return nullptr;
  }
  auto model = std::make_unique<StoredNetwork>();
  model->network = read_model_preset(*preset).network;
  if (model->network.decoder || model->network.parts.empty()) {
    reason = "model.not_modelled";
    return nullptr;
  }
  model->scheme = *scheme;
  for (NetworkPart& part : model->network.parts) {
    for (TensorGroup& tensor : part.tensors) tensor.keeps_precision |= !kept.empty() && tensor.name.starts_with(kept);
  }
  return models_.emplace(key, std::move(model)).first->second.get();
}

// How the devices of a training run are joined: `nodes` and `inter` (Gb/s a node) of the variant.
PartsTrainingInputs PartsRowReader::training_of(const PartsTimeRow& row, const PartsTimeInputs& forward) const {
  PartsTrainingInputs in;
  in.forward = forward;
  in.optimizer = value_of_key(row.variant, "optimizer");
  const std::int64_t devices = row.count.value_or(1);
  const std::int64_t nodes = parse_count(value_of_key(row.variant, "nodes")).value.value_or(1);
  in.group = {std::max<std::int64_t>(1, devices / nodes), nodes};
  const double network = parse_number(value_of_key(row.variant, "inter")).value.value_or(0);
  in.fabric = fabric_of(catalog_, *forward.accelerator, {}, gigabits_per_second(network), in.group.inside);
  return in;
}

std::variant<PartsRowWork, std::string> PartsRowReader::work_of(const PartsTimeRow& row) {
  std::string reason;
  PartsRowWork work;
  work.row = &row;
  const Accelerator* accelerator = catalog_.find_accelerator(row.accelerator);
  if (!accelerator) return std::string("accelerator.unknown");
  const Runtime* runtime = runtime_of(row);
  if (!runtime) return std::string("engine.unknown");
  const StoredNetwork* model = model_of(row, reason);
  if (!model) return reason;
  work.runtime = &timed_runtime(catalog_, *runtime);
  work.devices = static_cast<double>(row.count.value_or(1));
  const auto items = parse_number(value_of_key(row.variant, "items")).value;
  work.items = items && *items > 0 ? *items : 1;
  PartsTimeInputs in{model, runtime, accelerator, job_of(row), is_32_bit_tensor_format(row.weights), false, &catalog_};
  in.channels_last = value_of_key(row.variant, "memory_format") == "channels_last";
  in.tf32 = in.tf32 || value_of_key(row.variant, "tf32") == "yes";
  if (!row.batch && row.mode != "single") in.job.batch = best_batch(in, ceilings_, PartsConstants{});
  work.work = trains(row) ? parts_training_work(training_of(row, in), ceilings_) : parts_work(in, ceilings_);
  if (work.work.parts.empty()) return std::string("model.not_modelled");
  return work;
}

double predicted_value(const PartsRowWork& work, const PartsConstants& constants) {
  const double latency = parts_seconds(work.work, constants);
  const double rate = work.devices / latency;
  switch (counts_of(work.row->metric)) {
    case Counts::latency:
      return latency;
    case Counts::items:
      return rate * work.work.items / work.items;
    case Counts::tokens:
      return rate * work.work.tokens;
    case Counts::audio:
      return rate * work.work.audio;
  }
  return latency;
}

double time_ratio(const PartsRowWork& work, double predicted) {
  const double ratio = work.row->value / predicted;
  return counts_of(work.row->metric) == Counts::latency ? ratio : 1 / ratio;
}

}  // namespace gpuplan
