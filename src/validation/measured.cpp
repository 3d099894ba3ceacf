#include <gpuplan/validation/measured.hpp>

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
                                  {Metric::total_tokens_per_s, "total_tokens_per_s", true}};

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

// Takes the fields of one record by their column and collects what is wrong with them.
class RecordReader {
 public:
  RecordReader(const CsvTable& table, std::string_view origin, std::vector<Problem>& problems)
      : table_(table), origin_(origin), problems_(problems) {}
  void start(const CsvRecord& record) { record_ = &record; }

  [[nodiscard]] std::string text(std::string_view column) const {
    const auto at = table_.column(column);
    return at ? record_->fields[*at] : std::string{};
  }
  template <class Parse>
  auto optional(std::string_view column, Parse parse) -> decltype(parse(std::string_view{}).value) {
    const std::string field = text(column);
    if (field.empty()) return std::nullopt;
    auto parsed = parse(field);
    if (!parsed.value) refuse(column, parsed.message, parsed.expected);
    return parsed.value;
  }
  template <class Parse>
  auto required(std::string_view column, Parse parse) {
    using Value = typename decltype(parse(std::string_view{}).value)::value_type;
    if (text(column).empty()) refuse(column, "no '" + std::string(column) + "'", "a value");
    return optional(column, parse).value_or(Value{});
  }

 private:
  void refuse(std::string_view column, const std::string& message, const std::string& expected) {
    const auto at = table_.column(column);
    problems_.push_back({"input.bad_value",
                         std::string(column) + ": " + message,
                         Place{std::string(origin_), record_->line, at ? static_cast<int>(*at) + 1 : 0},
                         expected,
                         {},
                         {}});
  }

  const CsvTable& table_;
  std::string_view origin_;
  std::vector<Problem>& problems_;
  const CsvRecord* record_ = nullptr;
};

MeasuredRow read_row(RecordReader& in) {
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
  row.mode = in.optional("mode", parse_mode).value_or(MeasuredMode::unknown);
  row.metric = in.required("metric", parse_metric);
  row.count = in.optional("count", parse_count).value_or(1);
  row.tp = in.optional("tp", parse_count).value_or(1);
  row.pp = in.optional("pp", parse_count).value_or(1);
  row.ep = in.optional("ep", parse_count).value_or(1);
  row.dp = in.optional("dp", parse_count).value_or(1);
  row.input = in.optional("input_tokens", parse_count_or_zero);
  row.output = in.optional("output_tokens", parse_count_or_zero);
  row.batch = in.optional("batch", parse_count);
  row.requests = in.optional("requests", parse_count);
  row.concurrency = in.optional("concurrency", parse_positive);
  row.request_rate = in.optional("request_rate", parse_positive);
  row.memory_fraction = in.optional("memory_fraction", parse_positive);
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
  for (const std::string_view column : kRequired) {
    if (table.column(column)) continue;
    problems.push_back({"input.missing_key",
                        "no column '" + std::string(column) + "'",
                        Place{std::string(origin), 1, 0},
                        "the columns of data/measured/README.md",
                        {},
                        {}});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  RecordReader in(table, origin, problems);
  std::vector<MeasuredRow> rows;
  rows.reserve(table.records.size());
  for (const CsvRecord& record : table.records) {
    in.start(record);
    rows.push_back(read_row(in));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return rows;
}

std::string_view variant_of(const MeasuredRow& row, std::string_view key) {
  std::string_view rest = row.variant;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const auto equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == key) return pair.substr(equals + 1);
  }
  return {};
}

}  // namespace gpuplan
