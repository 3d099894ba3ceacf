#include <gpuplan/validation/measured.hpp>

#include "table_row.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/parse.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::pair<MeasuredMode, std::string_view> kModes[] = {{MeasuredMode::single, "single"},
                                                                {MeasuredMode::static_batch, "static_batch"},
                                                                {MeasuredMode::concurrency, "concurrency"},
                                                                {MeasuredMode::offline, "offline"},
                                                                {MeasuredMode::open_loop, "open_loop"},
                                                                {MeasuredMode::server, "server"},
                                                                {MeasuredMode::disaggregated, "disaggregated"},
                                                                {MeasuredMode::load, "load"}};

struct MetricRow {
  Metric metric;
  std::string_view name;
  bool rate;
};
constexpr MetricRow kMetrics[] = {{Metric::ttft_s, "ttft_s", false},
                                  {Metric::tpot_s, "tpot_s", false},
                                  {Metric::itl_s, "itl_s", false},
                                  {Metric::e2e_s, "e2e_s", false},
                                  {Metric::prefill_tokens_per_s, "prefill_tokens_per_s", true},
                                  {Metric::decode_tokens_per_s, "decode_tokens_per_s", true},
                                  {Metric::output_tokens_per_s, "output_tokens_per_s", true},
                                  {Metric::output_tokens_per_s_per_device, "output_tokens_per_s_per_device", true},
                                  {Metric::total_tokens_per_s, "total_tokens_per_s", true},
                                  {Metric::requests_per_s, "requests_per_s", true},
                                  {Metric::batch_latency_s, "batch_latency_s", false}};

Parsed<MeasuredMode> parse_mode(std::string_view text) {
  for (const auto& [mode, name] : kModes) {
    if (name == text) return Parsed<MeasuredMode>::ok(mode);
  }
  return Parsed<MeasuredMode>::fail("unknown mode '" + std::string(text) + "'",
                                    "single, static_batch, concurrency, offline, open_loop, …", {},
                                    "input.unknown_name");
}
Parsed<Metric> parse_metric(std::string_view text) {
  for (const MetricRow& row : kMetrics) {
    if (row.name == text) return Parsed<Metric>::ok(row.metric);
  }
  return Parsed<Metric>::ok(Metric::other);
}

MeasuredRow read_row(TableRow& in) {
  MeasuredRow row;
  row.id = in.required("id", parse_text);
  row.source = in.required("source", parse_text);
  row.engine = in.required("engine", parse_text);
  row.engine_version = in.text("engine_version");
  row.model = in.required("model", parse_text);
  row.accelerator = in.required("accelerator", parse_text);
  row.weights = in.text("weights");
  row.kv = in.text("kv");
  row.variant = in.text("variant");
  row.mode = in.number("mode", parse_mode).value_or(MeasuredMode::unknown);
  row.metric = in.required("metric", parse_metric);
  row.count = in.number("count", parse_count).value_or(1);
  row.tp = in.number("tp", parse_count).value_or(1);
  row.pp = in.number("pp", parse_count).value_or(1);
  row.ep = in.number("ep", parse_count).value_or(1);
  row.dp = in.number("dp", parse_count).value_or(1);
  row.input = in.number("input_tokens", parse_count_or_zero);
  row.output = in.number("output_tokens", parse_count_or_zero);
  row.batch = in.number("batch", parse_count);
  row.requests = in.number("requests", parse_count);
  row.concurrency = in.number("concurrency", parse_positive);
  row.request_rate = in.number("request_rate", parse_positive);
  row.memory_fraction = in.number("memory_fraction", parse_positive);
  row.bits = in.number("weights_bits", parse_positive);
  row.cached = in.number("cached_tokens", parse_count_or_zero).value_or(0);
  row.value =
      row.metric == Metric::other ? in.required("value", parse_non_negative) : in.required("value", parse_positive);
  return row;
}

}  // namespace

std::string_view to_string(MeasuredMode value) {
  for (const auto& [mode, name] : kModes) {
    if (mode == value) return name;
  }
  return "?";
}

std::string_view to_string(Metric value) {
  for (const MetricRow& row : kMetrics) {
    if (row.metric == value) return row.name;
  }
  return "?";
}

bool is_rate(Metric value) {
  for (const MetricRow& row : kMetrics) {
    if (row.metric == value) return row.rate;
  }
  return false;
}

std::vector<MeasuredRow> read_measured(std::string_view text, std::string_view origin) {
  return read_measured(read_csv(text, origin), origin);
}

std::vector<MeasuredRow> read_measured(const CsvTable& table, std::string_view origin) {
  static constexpr std::array<std::string_view, 8> kRequired = {"id",          "source", "engine", "model",
                                                                "accelerator", "mode",   "metric", "value"};
  std::vector<Problem> problems;
  require_columns(table, kRequired, origin, problems);
  if (!problems.empty()) throw InputError(std::move(problems));
  std::vector<MeasuredRow> rows;
  rows.reserve(table.records.size());
  for (const CsvRecord& record : table.records) {
    TableRow in(table, record, origin, problems);
    rows.push_back(read_row(in));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return rows;
}

std::string_view variant_of(const MeasuredRow& row, std::string_view key) { return value_of_key(row.variant, key); }

}  // namespace gpuplan
