#include <gpuplan/validation/validate.hpp>

#include "table_row.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/validation/errors.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::array<std::string_view, 4> kColumns = {"id", "source", "metric", "value"};

constexpr std::pair<std::string_view, std::string ValidatedRow::*> kTexts[] = {
    {"id", &ValidatedRow::id},         {"source", &ValidatedRow::source},
    {"engine", &ValidatedRow::engine}, {"task", &ValidatedRow::task},
    {"mode", &ValidatedRow::mode},     {"model", &ValidatedRow::model},
    {"metric", &ValidatedRow::metric}, {"accelerator", &ValidatedRow::accelerator}};

// Cells that count something, in whatever table they stand: not every predictor reads each, and none may hold a slip.
constexpr std::array<std::string_view, 12> kCounts = {
    "count", "nodes", "devices_per_node", "context",     "tp", "pp", "dp", "cp",
    "ep",    "batch", "micro_batch",      "global_batch"};

// `gpu` is the flags' word for the accelerator.
constexpr std::array<std::string_view, 8> kGroupKeys = {"metric", "mode",  "engine",      "source",
                                                        "task",   "model", "accelerator", "gpu"};

bool is_training(const CsvTable& table) { return table.column("micro_batch") && table.column("zero"); }

bool asked_for(std::string_view metric, std::span<const std::string> metrics) {
  return metrics.empty() || std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
}

// Records of one predictor, with their places among all rows.
struct Share {
  CsvTable table;
  std::vector<std::size_t> places;
};

void predict_share(const Catalog& catalog, const RowPredictor& predictor, const Share& share, std::string_view origin,
                   std::vector<ValidatedRow>& rows) {
  std::vector<ValidatedRow> own;
  own.reserve(share.places.size());
  for (const std::size_t place : share.places) own.push_back(rows[place]);
  predictor.predict(catalog, share.table, origin, own);
  for (std::size_t i = 0; i < own.size(); ++i) rows[share.places[i]] = std::move(own[i]);
}

RowSummary summary_of(const std::vector<const ValidatedRow*>& rows) {
  std::map<std::string_view, double> of_source;
  for (const ValidatedRow* row : rows) of_source[row->source] += 1;
  RowSummary s;
  s.rows = static_cast<std::int64_t>(rows.size());
  s.sources = static_cast<std::int64_t>(of_source.size());
  std::vector<Weighted> errors;
  std::vector<Weighted> ratios;
  double covered = 0;
  double with_interval = 0;
  for (const ValidatedRow* row : rows) {
    const double weight = 1 / of_source.at(row->source);
    errors.push_back({row->abs_error(), weight});
    s.mean_abs_error += row->abs_error() * weight / static_cast<double>(s.sources);
    s.worst_abs_error = std::max(s.worst_abs_error, row->abs_error());
    if (!row->predicted) continue;
    ++s.predicted;
    if (row->low && row->high) {
      with_interval += weight;
      if (*row->low <= row->measured && row->measured <= *row->high) covered += weight;
    }
    if (row->measured > 0) ratios.push_back({*row->predicted / row->measured, weight});
  }
  if (with_interval > 0) s.coverage_80 = covered / with_interval;
  s.median_abs_error = weighted_quantile(errors, 0.5);
  s.p90_abs_error = weighted_quantile(std::move(errors), 0.9);
  if (!ratios.empty()) s.bias = weighted_quantile(std::move(ratios), 0.5);
  return s;
}

}  // namespace

namespace {

// No measurement is outside these, and quotients of what is inside are finite.
Parsed<double> parse_measured(std::string_view text) {
  constexpr double kLeast = 1e-30;
  constexpr double kMost = 1e30;
  Parsed<double> parsed = parse_non_negative(text);
  if (parsed.value && *parsed.value != 0 && (*parsed.value < kLeast || *parsed.value > kMost))
    return Parsed<double>::fail("'" + std::string(text) + "' is out of range", "0, or 1e-30 to 1e30");
  return parsed;
}

}  // namespace

double ValidatedRow::abs_error() const {
  if (!predicted || !std::isfinite(*predicted)) return 1;
  if (metric == "fits") return (*predicted > 0.5) == (measured > 0.5) ? 0 : 1;
  if (measured <= 0) return *predicted <= 0 ? 0 : 1;
  return std::fabs(*predicted / measured - 1);
}

Validation validate_table(const Catalog& catalog, const CsvTable& table, std::string_view origin,
                          std::span<const std::string> metrics) {
  std::vector<Problem> problems;
  require_columns(table, kColumns, origin, problems);
  if (!problems.empty()) throw InputError(std::move(problems));
  Validation out;
  out.rows = static_cast<std::int64_t>(table.records.size());
  const auto predictors = row_predictors();
  std::vector<Share> shares(predictors.size());
  const bool training = is_training(table);
  for (const CsvRecord& record : table.records) {
    TableRow in(table, record, origin, problems);
    ValidatedRow row;
    for (const auto& [column, member] : kTexts) row.*member = in.text(column);
    if (!row.metric.empty()) out.metrics.insert(row.metric);
    if (in.text("score") == "no" || !asked_for(row.metric, metrics)) continue;
    row.measured = in.required("value", parse_measured);
    for (const std::string_view column : kCounts) (void)in.number(column, parse_count);
    row.how = "metric.not_modelled";
    const auto claims = [&](const RowPredictor& p) { return p.claims({row.metric, row.task, training}); };
    const auto found = std::find_if(predictors.begin(), predictors.end(), claims);
    if (found != predictors.end()) {
      Share& share = shares[static_cast<std::size_t>(found - predictors.begin())];
      share.table.records.push_back(record);
      share.places.push_back(out.scored.size());
    }
    out.scored.push_back(std::move(row));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  for (std::size_t i = 0; i < shares.size(); ++i) {
    shares[i].table.columns = table.columns;
    if (!shares[i].places.empty()) predict_share(catalog, predictors[i], shares[i], origin, out.scored);
  }
  return out;
}

std::span<const std::string_view> group_keys() { return kGroupKeys; }

std::optional<std::string> group_value(const ValidatedRow& row, std::string_view key) {
  if (key == "gpu") key = "accelerator";
  if (std::find(kGroupKeys.begin(), kGroupKeys.end(), key) == kGroupKeys.end()) return std::nullopt;
  for (const auto& [name, member] : kTexts) {
    if (name == key) return row.*member;
  }
  return std::nullopt;
}

std::vector<RowSummary> summarize_rows(std::span<const ValidatedRow> rows, std::span<const std::string> keys) {
  std::map<std::vector<std::string>, std::vector<const ValidatedRow*>> groups;
  for (const ValidatedRow& row : rows) {
    std::vector<std::string> by;
    for (const std::string& key : keys) by.push_back(group_value(row, key).value_or(""));
    groups[by].push_back(&row);
  }
  std::vector<RowSummary> out;
  for (const auto& [by, members] : groups) {
    out.push_back(summary_of(members));
    out.back().by = by;
  }
  return out;
}

}  // namespace gpuplan
