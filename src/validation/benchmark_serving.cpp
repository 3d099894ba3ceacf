// Serving benchmarks: vLLM's and SGLang's results as JSON or as printed, genai-perf's too.

#include "benchmark_rows.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <cmath>
#include <optional>

namespace gpuplan {
namespace {

using Fields = BenchmarkRows::Fields;

std::optional<double> number_of(const Node* node) {
  if (!node || node->kind != Node::Kind::scalar) return std::nullopt;
  return parse_number(node->scalar).value;
}

std::string text_of(const Node& object, std::string_view key) {
  const Node* node = object.find(key);
  return node && node->kind == Node::Kind::scalar ? node->scalar : std::string{};
}

std::string whole(double value) { return count_text(value); }

Fields shared_fields(const BenchmarkRows& rows, std::string model, std::string engine) {
  const BenchmarkContext& c = rows.context();
  Fields f;
  f["engine"] = c.engine.empty() ? (engine.empty() ? "vllm" : engine) : c.engine;
  f["model"] = c.model.empty() ? std::move(model) : c.model;
  f["weights"] = c.weights;
  f["count"] = std::to_string(c.count);
  f["tp"] = std::to_string(c.tp.value_or(c.count));
  return f;
}

void set_load(Fields& f, std::optional<double> concurrency, std::optional<double> rate, double requests) {
  f["requests"] = whole(requests);
  f["mode"] = "offline";
  if (rate && *rate > 0) {
    f["mode"] = "open_loop";
    f["request_rate"] = format_shortest(*rate);
  }
  if (concurrency && *concurrency > 0) {
    f["mode"] = *concurrency > 1 ? "concurrency" : "single";
    f["concurrency"] = whole(*concurrency);
  }
}

struct Latency {
  std::string_view key, metric;
};
constexpr Latency kLatencies[] = {
    {"ttft", "ttft_s"}, {"tpot", "tpot_s"}, {"itl", "itl_s"}, {"e2el", "e2e_s"}, {"e2e_latency", "e2e_s"}};

// Milliseconds under `…_ms`, else seconds. The mean where there is one, for our times are means, else the median.
void add_latencies(const Node& result, int line, const Fields& f, BenchmarkRows& rows) {
  for (const Latency& latency : kLatencies) {
    for (const auto& [prefix, statistic] : {std::pair{"mean_", "mean"}, std::pair{"median_", "p50"}}) {
      const std::string key = prefix + std::string(latency.key);
      const auto ms = number_of(result.find(key + "_ms"));
      const auto s = number_of(result.find(key));
      if (!ms && !s) continue;
      rows.add_serving(line, f, latency.metric, statistic, ms ? *ms / 1000 : *s);
      break;
    }
  }
}

bool add_result(const Node& result, BenchmarkRows& rows) {
  const auto completed = number_of(result.find("completed"));
  const auto input = number_of(result.find("total_input_tokens"));
  const auto output = number_of(result.find("total_output_tokens"));
  if (!completed || *completed < 1 || !input || !output) return false;
  const int line = result.place.line;
  Fields f = shared_fields(rows, text_of(result, "model_id"), text_of(result, "backend") == "sglang" ? "sglang" : "");
  if (f["model"].empty()) rows.refuse(line, "the file names no model", "--model");
  f["input_tokens"] = whole(*input / *completed);
  f["output_tokens"] = whole(*output / *completed);
  set_load(f, number_of(result.find("max_concurrency")), number_of(result.find("request_rate")), *completed);
  add_latencies(result, line, f, rows);
  for (const char* key : {"output_throughput", "output_token_throughput"}) {
    if (const auto rate = number_of(result.find(key))) rows.add_serving(line, f, "output_tokens_per_s", "", *rate);
  }
  return true;
}

// `label: number` in what a benchmark prints.
std::optional<double> printed(std::string_view text, std::string_view label) {
  const auto at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + label.size());
  rest = rest.substr(0, rest.find('\n'));
  while (!rest.empty() && (rest.front() == ':' || rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  return parse_number(trim(rest)).value;
}

// The first number after a label, up to a box character or a bar.
std::optional<double> in_box(std::string_view text, std::string_view label) {
  constexpr std::string_view kBars[] = {"│", "|"};
  const auto at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + label.size());
  rest = rest.substr(0, rest.find('\n'));
  for (const std::string_view bar : kBars) {
    const auto from = rest.find(bar);
    if (from == std::string_view::npos) continue;
    rest.remove_prefix(from + bar.size());
    return parse_number(trim(rest.substr(0, rest.find(bar)))).value;
  }
  return std::nullopt;
}

std::optional<double> average(const Node& object, std::string_view key) {
  const Node* statistic = object.find(key);
  return statistic && statistic->kind == Node::Kind::mapping ? number_of(statistic->find("avg")) : std::nullopt;
}

struct GenaiPerf {
  std::optional<double> ttft, itl, latency, input, output, throughput;
};

bool add_genai_perf(const GenaiPerf& g, int line, BenchmarkRows& rows) {
  if (!g.ttft || !g.input || !g.output) return false;
  Fields f = shared_fields(rows, "", "tensorrt-llm");
  if (f["model"].empty()) rows.refuse(line, "the file names no model", "--model");
  f["input_tokens"] = whole(*g.input);
  f["output_tokens"] = whole(*g.output);
  f["mode"] = "single";
  f["concurrency"] = "1";
  // Little's law: requests in flight are their rate times their latency.
  if (g.throughput && g.latency && *g.latency > 0) {
    const double in_flight = *g.throughput / *g.output * *g.latency / 1000;
    f["concurrency"] = whole(std::max(1.0, in_flight));
    if (in_flight > 1.5) f["mode"] = "concurrency";
  }
  rows.add_serving(line, f, "ttft_s", "mean", *g.ttft / 1000);
  if (g.itl) rows.add_serving(line, f, "tpot_s", "mean", *g.itl / 1000);
  if (g.latency) rows.add_serving(line, f, "e2e_s", "mean", *g.latency / 1000);
  if (g.throughput) rows.add_serving(line, f, "output_tokens_per_s", "", *g.throughput);
  return true;
}

}  // namespace

bool read_serving_json(std::string_view text, BenchmarkRows& rows) {
  const std::string_view body = trim(text);
  if (body.empty() || body.front() != '{') return false;
  // One object, or one a line.
  const bool lines = body.find("}\n{") != std::string_view::npos;
  if (!lines) return add_result(parse_json(body, rows.origin(), kMaxDocumentNodes * 100, NonFinite::accepted), rows);
  bool any = false;
  for (const std::string& line : split(body, '\n'))
    any = add_result(parse_json(line, rows.origin(), kMaxDocumentNodes, NonFinite::accepted), rows) || any;
  return any;
}

bool read_serving_console(std::string_view text, BenchmarkRows& rows) {
  if (text.find("Serving Benchmark Result") == std::string_view::npos) return false;
  const auto completed = printed(text, "Successful requests");
  const auto input = printed(text, "Total input tokens");
  const auto output = printed(text, "Total generated tokens");
  if (!completed || *completed < 1 || !input || !output) return false;
  Fields f = shared_fields(rows, "", "");
  if (f["model"].empty()) rows.refuse(0, "the file names no model", "--model");
  f["input_tokens"] = whole(*input / *completed);
  f["output_tokens"] = whole(*output / *completed);
  set_load(f, printed(text, "Maximum request concurrency"), printed(text, "Traffic request rate"), *completed);
  constexpr Latency kPrinted[] = {{"Mean TTFT (ms)", "ttft_s"},
                                  {"Mean TPOT (ms)", "tpot_s"},
                                  {"Mean ITL (ms)", "itl_s"},
                                  {"Mean E2EL (ms)", "e2e_s"}};
  for (const Latency& latency : kPrinted) {
    if (const auto ms = printed(text, latency.key)) rows.add_serving(0, f, latency.metric, "mean", *ms / 1000);
  }
  if (const auto rate = printed(text, "Output token throughput (tok/s)"))
    rows.add_serving(0, f, "output_tokens_per_s", "", *rate);
  return true;
}

bool read_genai_perf(std::string_view text, BenchmarkRows& rows) {
  const std::string_view body = trim(text);
  if (!body.empty() && body.front() == '{' && body.find("\"time_to_first_token\"") != std::string_view::npos) {
    const Node root = parse_json(body, rows.origin(), kMaxDocumentNodes * 100, NonFinite::accepted);
    return add_genai_perf({average(root, "time_to_first_token"), average(root, "inter_token_latency"),
                           average(root, "request_latency"), average(root, "input_sequence_length"),
                           average(root, "output_sequence_length"), average(root, "output_token_throughput")},
                          1, rows);
  }
  if (text.find("Time to first token (ms)") == std::string_view::npos) return false;
  return add_genai_perf({in_box(text, "Time to first token (ms)"), in_box(text, "Inter token latency (ms)"),
                         in_box(text, "Request latency (ms)"), in_box(text, "Input sequence length"),
                         in_box(text, "Output sequence length"), in_box(text, "Output token throughput (per sec)")},
                        0, rows);
}

}  // namespace gpuplan
