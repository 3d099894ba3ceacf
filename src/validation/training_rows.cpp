#include <gpuplan/validation/training.hpp>

#include "table_row.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/parse.hpp>
#include <gpuplan/validation/csv.hpp>
#include <gpuplan/validation/errors.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::array<std::string_view, 3> kMetrics = {"peak_bytes_per_device", "reserved_bytes_per_device", "fits"};
constexpr std::array<std::string_view, 7> kTimeMetrics = {
    "step_s", "wall_s", "tokens_per_s", "tokens_per_s_per_device", "samples_per_s", "flops_per_device", "mfu"};
constexpr std::array<std::string_view, 7> kColumns = {"id", "source", "task", "engine", "model", "metric", "value"};

TrainingRow read_row(TableRow& in) {
  TrainingRow row;
  const std::pair<std::string_view, std::string TrainingRow::*> texts[] = {
      {"id", &TrainingRow::id},
      {"source", &TrainingRow::source},
      {"task", &TrainingRow::task},
      {"engine", &TrainingRow::engine},
      {"model", &TrainingRow::model},
      {"arch", &TrainingRow::arch},
      {"accelerator", &TrainingRow::accelerator},
      {"precision", &TrainingRow::precision},
      {"zero", &TrainingRow::zero},
      {"recompute", &TrainingRow::recompute},
      {"optimizer", &TrainingRow::optimizer},
      {"flash_attention", &TrainingRow::flash_attention},
      {"variant", &TrainingRow::variant},
      {"memory_kind", &TrainingRow::memory_kind},
      {"intra_link", &TrainingRow::intra_link},
      {"flop_convention", &TrainingRow::flop_convention},
      {"metric", &TrainingRow::metric}};
  for (const auto& [column, member] : texts) row.*member = in.text(column);
  const std::pair<std::string_view, std::optional<std::int64_t> TrainingRow::*> counts[] = {
      {"count", &TrainingRow::count},
      {"nodes", &TrainingRow::nodes},
      {"devices_per_node", &TrainingRow::devices_per_node},
      {"global_batch", &TrainingRow::global_batch},
      {"seq_len", &TrainingRow::sequence},
      {"micro_batch", &TrainingRow::micro_batch},
      {"grad_accum", &TrainingRow::grad_accum},
      {"tp", &TrainingRow::tp},
      {"pp", &TrainingRow::pp},
      {"vpp", &TrainingRow::vpp},
      {"dp", &TrainingRow::dp},
      {"cp", &TrainingRow::cp},
      {"ep", &TrainingRow::ep},
      {"lora_rank", &TrainingRow::lora_rank}};
  for (const auto& [column, member] : counts) row.*member = in.number(column, parse_count);
  row.sequence_parallel = in.text("sp") == "1" || in.text("sp") == "yes";
  row.network_gbit = in.number("inter_gbps_per_node", parse_non_negative).value_or(0);
  row.samples_to_target = in.number("samples_to_target", parse_non_negative).value_or(0);
  row.value = in.number("value", parse_non_negative).value_or(0);
  return row;
}

std::vector<TrainingRow> read_rows(const CsvTable& table, std::string_view origin,
                                   std::span<const std::string_view> metrics) {
  std::vector<Problem> problems;
  require_columns(table, kColumns, origin, problems);
  if (!problems.empty()) throw InputError(std::move(problems));
  std::vector<TrainingRow> rows;
  for (const CsvRecord& record : table.records) {
    TableRow in(table, record, origin, problems);
    const std::string metric = in.text("metric");
    if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end() || in.text("score") == "no") continue;
    TrainingRow row = read_row(in);
    if (row.metric != "fits" && row.value <= 0) {
      problems.push_back({"input.bad_value",
                          "value: '" + in.text("value") + "' is no positive number",
                          Place{std::string(origin), record.line, 0},
                          "bytes, seconds or a rate",
                          {},
                          {}});
    }
    rows.push_back(std::move(row));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return rows;
}

}  // namespace

double TrainingPrediction::abs_error() const {
  if (!predicted) return 1;
  if (row.metric == "fits") return std::fabs(value - row.value) < 0.5 ? 0 : 1;
  return std::fabs(value / row.value - 1);
}

std::vector<TrainingRow> read_training_rows(std::string_view text, std::string_view origin) {
  return read_training_rows(read_csv(text, origin), origin);
}

std::vector<TrainingRow> read_training_rows(const CsvTable& table, std::string_view origin) {
  return read_rows(table, origin, kMetrics);
}

bool is_training_time_metric(std::string_view metric) {
  return std::find(kTimeMetrics.begin(), kTimeMetrics.end(), metric) != kTimeMetrics.end();
}

std::vector<TrainingRow> read_training_time_rows(const CsvTable& table, std::string_view origin) {
  return read_rows(table, origin, kTimeMetrics);
}

TrainingSummary summarize_training(std::span<const TrainingPrediction> predictions) {
  TrainingSummary s;
  std::map<std::string_view, double> rows_of;
  for (const TrainingPrediction& p : predictions) rows_of[p.row.source] += 1;
  std::vector<Weighted> errors;
  std::vector<Weighted> ratios;
  double weights = 0;
  for (const TrainingPrediction& p : predictions) {
    const double weight = 1 / rows_of[p.row.source];
    errors.push_back({p.abs_error(), weight});
    s.mean += weight * p.abs_error();
    weights += weight;
    if (!p.predicted) {
      ++s.unpredicted;
    } else if (p.row.value > 0) {
      ratios.push_back({p.value / p.row.value, weight});
    }
  }
  s.rows = static_cast<std::int64_t>(predictions.size());
  s.sources = static_cast<std::int64_t>(rows_of.size());
  if (weights > 0) s.mean /= weights;
  s.median = weighted_quantile(errors, 0.5);
  s.p90 = weighted_quantile(errors, 0.9);
  s.bias = ratios.empty() ? 1 : weighted_quantile(ratios, 0.5);
  return s;
}

}  // namespace gpuplan
