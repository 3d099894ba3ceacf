#include <gpuplan/validation/benchmark_files.hpp>

#include "benchmark_rows.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>

namespace gpuplan {
namespace {

// Every column that a row may have; what it does not give stays empty.
constexpr std::array<std::string_view, 29> kColumns = {"id",
                                                       "source",
                                                       "engine",
                                                       "engine_version",
                                                       "model",
                                                       "accelerator",
                                                       "count",
                                                       "nodes",
                                                       "weights",
                                                       "kv",
                                                       "mode",
                                                       "tp",
                                                       "pp",
                                                       "input_tokens",
                                                       "output_tokens",
                                                       "concurrency",
                                                       "request_rate",
                                                       "batch",
                                                       "requests",
                                                       "cached_tokens",
                                                       "link",
                                                       "network_link",
                                                       "network_gbit",
                                                       "collective",
                                                       "domain",
                                                       "message_bytes",
                                                       "metric",
                                                       "statistic",
                                                       "value"};

struct BenchmarkFormat {
  std::string_view name;
  bool (*read)(std::string_view text, BenchmarkRows& rows);
};
constexpr BenchmarkFormat kFormats[] = {{"llama-bench", read_llama_bench},
                                        {"nccl-tests", read_nccl_tests},
                                        {"genai-perf", read_genai_perf},
                                        {"serving", read_serving_json},
                                        {"serving", read_serving_console}};

}  // namespace

void BenchmarkRows::add(int line, Fields fields) { rows_.emplace_back(line, std::move(fields)); }

void BenchmarkRows::add_serving(int line, const Fields& shared, std::string_view metric, std::string_view statistic,
                                double value) {
  if (!(value > 0)) {
    ++without_value_;
    return;
  }
  Fields fields = shared;
  fields["metric"] = metric;
  fields["statistic"] = statistic;
  fields["value"] = format_shortest(value);
  add(line, std::move(fields));
}

CsvTable BenchmarkRows::table() && {
  CsvTable table;
  table.columns.assign(kColumns.begin(), kColumns.end());
  const std::string name(origin_.substr(origin_.rfind('/') + 1));
  std::size_t n = 0;
  for (auto& [line, fields] : rows_) {
    fields["id"] = name + "#" + std::to_string(++n);
    fields["source"] = name;
    if (fields["accelerator"].empty()) fields["accelerator"] = context_.accelerator;
    CsvRecord record;
    record.line = line;
    for (const std::string_view column : kColumns) {
      const auto found = fields.find(column);
      record.fields.push_back(found == fields.end() ? std::string{} : found->second);
    }
    table.records.push_back(std::move(record));
  }
  return table;
}

BenchmarkTable read_benchmark(std::string_view text, std::string_view origin, const BenchmarkContext& context) {
  const std::string_view head = text.substr(0, text.find('\n'));
  if (head.find("metric") != std::string_view::npos && head.find(',') != std::string_view::npos &&
      trim(head).front() != '{' && trim(head).front() != '[') {
    return {"table", read_csv(text, origin), 0};
  }
  for (const BenchmarkFormat& format : kFormats) {
    BenchmarkRows rows(origin, context);
    if (!format.read(text, rows)) continue;
    const std::int64_t without_value = rows.without_value();
    CsvTable table = std::move(rows).table();
    if (table.records.empty()) break;
    return {std::string(format.name), std::move(table), without_value};
  }
  throw InputError(
      Problem{"input.unknown_format",
              "no measurements were recognised",
              Place{std::string(origin), 0, 0},
              "results of vLLM, SGLang, llama-bench, genai-perf or nccl-tests, or a table in the measurement format",
              {},
              {}});
}

}  // namespace gpuplan
