#include <gpuplan/validation/benchmark_files.hpp>

#include <gpuplan/validation/collectives.hpp>
#include <gpuplan/validation/measured.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <string>

namespace gpuplan::testing {
namespace {

BenchmarkContext on(std::string accelerator) {
  BenchmarkContext c;
  c.accelerator = std::move(accelerator);
  return c;
}

std::vector<MeasuredRow> rows_of(std::string_view text, const BenchmarkContext& context) {
  return read_measured(read_benchmark(text, "bench", context).table, "bench");
}

const MeasuredRow& of(const std::vector<MeasuredRow>& rows, Metric metric) {
  for (const MeasuredRow& row : rows) {
    if (row.metric == metric) return row;
  }
  throw std::runtime_error("no such metric");
}

std::string problem_of(std::string_view text, const BenchmarkContext& context) {
  try {
    (void)read_benchmark(text, "bench", context);
  } catch (const InputError& error) {
    return error.problems().front().id;
  }
  return "read";
}

}  // namespace

TEST_CASE("benchmark files: a serving result in milliseconds", "[validation]") {
  // 100 requests: 100,000 tokens in and 200 out each.
  const auto rows = rows_of(R"({"backend": "vllm", "model_id": "meta-llama/Llama-3.1-8B", "completed": 100,
    "total_input_tokens": 10000000, "total_output_tokens": 20000, "max_concurrency": 16, "request_rate": "inf",
    "output_throughput": 1500.5, "mean_ttft_ms": 250, "median_ttft_ms": 200, "mean_tpot_ms": 12.5, "p99_itl_ms": 40})",
                            on("L40S"));
  REQUIRE(rows.size() == 3);
  const MeasuredRow& ttft = of(rows, Metric::ttft_s);
  CHECK(ttft.value == Approx(0.25));  // the mean, where both are there
  CHECK(*ttft.input == 100000);
  CHECK(*ttft.output == 200);
  CHECK(*ttft.concurrency == Approx(16));
  CHECK(ttft.mode == MeasuredMode::concurrency);
  CHECK(ttft.accelerator == "L40S");
  CHECK(of(rows, Metric::tpot_s).value == Approx(0.0125));
  CHECK(of(rows, Metric::output_tokens_per_s).value == Approx(1500.5));
}

TEST_CASE("benchmark files: a serving result in seconds, one a line", "[validation]") {
  const std::string one =
      R"({"model_id": "m", "completed": 10, "total_input_tokens": 100, "total_output_tokens": 50, "median_ttft": 0.5, "request_rate": 2.5})";
  const auto rows = rows_of(one + "\n" + one + "\n", on("L40S"));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].value == Approx(0.5));
  CHECK(rows[0].mode == MeasuredMode::open_loop);
  CHECK(*rows[0].request_rate == Approx(2.5));
}

TEST_CASE("benchmark files: what a serving benchmark prints", "[validation]") {
  BenchmarkContext context = on("A100-SXM4-80GB");
  context.model = "llama-3.1-8b";
  const auto rows = rows_of(
      "============ Serving Benchmark Result ============\n"
      "Successful requests:                     1000      \n"
      "Total input tokens:                      230000    \n"
      "Total generated tokens:                  200000    \n"
      "Output token throughput (tok/s):         6582.87   \n"
      "Mean TTFT (ms):                          9626.13   \n"
      "Mean TPOT (ms):                          77.86     \n",
      context);
  REQUIRE(rows.size() == 3);
  CHECK(of(rows, Metric::ttft_s).value == Approx(9.62613));
  CHECK(*of(rows, Metric::ttft_s).input == 230);
  CHECK(of(rows, Metric::ttft_s).mode == MeasuredMode::offline);
}

TEST_CASE("benchmark files: llama-bench in each of its forms", "[validation]") {
  BenchmarkContext context = on("GeForce-RTX-4090");
  context.model = "llama-2-7b";
  const std::string object =
      R"({"model_type": "llama 7B Q4_K - Medium", "model_filename": "m.gguf", "n_prompt": 512, "n_gen": 0, "n_depth": 4096, "avg_ts": 7000.5})";
  const std::string forms[] = {
      "[" + object + "]", object + "\n",
      "model_type,model_filename,n_prompt,n_gen,n_depth,avg_ts\n\"llama 7B Q4_K - Medium\",m.gguf,512,0,4096,7000.5\n",
      "noise before\n| model | size | test | t/s |\n| --- | --- | --- | --- |\n| llama 7B Q4_K - Medium | 3 GiB | "
      "pp512 @ d4096 | "
      "7000.50 ± 1.00 |\n"};
  for (const std::string& text : forms) {
    CAPTURE(text);
    const auto rows = rows_of(text, context);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].metric == Metric::prefill_tokens_per_s);
    CHECK(rows[0].value == Approx(7000.5));
    CHECK(*rows[0].input == 4608);  // the cache before and the prompt
    CHECK(rows[0].weights == "gguf:Q4_K_M");
    CHECK(rows[0].engine == "llama.cpp");
  }
  // Older output: `tg 128` with a space.
  const auto rows = rows_of("| model | test | t/s |\n| llama 7B F16 | tg 128 | 61.03 ± 0.07 |\n", context);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].metric == Metric::decode_tokens_per_s);
  CHECK(*rows[0].output == 128);
  CHECK(rows[0].weights == "gguf:F16");
}

TEST_CASE("benchmark files: genai-perf prints and writes the same", "[validation]") {
  BenchmarkContext context = on("H100-SXM5-80GB");
  context.model = "llama-3.1-8b";
  const std::string printed =
      "│ Statistic │ avg │ min │\n"
      "│          Time to first token (ms) │  16.26 │  12.39 │\n"
      "│          Inter token latency (ms) │   1.85 │   1.55 │\n"
      "│              Request latency (ms) │ 499.20 │ 451.01 │\n"
      "│            Output sequence length │ 261.90 │ 256.00 │\n"
      "│             Input sequence length │ 550.06 │ 550.00 │\n"
      "│ Output token throughput (per sec) │ 520.87 │    N/A │\n";
  const std::string written =
      R"({"time_to_first_token": {"avg": 16.26}, "inter_token_latency": {"avg": 1.85}, "request_latency": {"avg": 499.2},
          "output_sequence_length": {"avg": 261.9}, "input_sequence_length": {"avg": 550.06}, "output_token_throughput": {"avg": 520.87}})";
  for (const std::string& text : {printed, written}) {
    const auto rows = rows_of(text, context);
    REQUIRE(rows.size() == 4);
    CHECK(of(rows, Metric::ttft_s).value == Approx(0.01626));
    CHECK(of(rows, Metric::tpot_s).value == Approx(0.00185));
    // 520.87 / 261.9 requests a second for 0.4992 s each: one in flight.
    CHECK(of(rows, Metric::tpot_s).mode == MeasuredMode::single);
  }
}

TEST_CASE("benchmark files: nccl-tests say ranks by their list, else by their bandwidths", "[validation]") {
  BenchmarkContext context = on("H100-SXM5-80GB");
  context.link = "nvlink4";
  context.network_link = "ib-ndr";
  context.network_gbit = 3200;
  const std::string head = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n";
  const std::string line = "  1073741824     268435456     float     sum      -1   6426.3  167.09  313.29      0\n";
  // 313.29 / 167.09 = 1.875 = 2 * 15/16
  const auto rows = read_collective_rows(read_benchmark(head + line, "t", context).table, "t");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].kind == Collective::all_reduce);
  CHECK(rows[0].group.ranks() == 16);
  CHECK(rows[0].group.hosts == 2);
  CHECK(rows[0].time() / microseconds(1) == Approx(6426.3));
  CHECK(rows[0].size / bytes(1) == Approx(1073741824));
  const std::string listed = "#  Rank  0 Group  0 Pid 1 on a device  0\n#  Rank  1 Group  0 Pid 1 on a device  1\n";
  CHECK(read_collective_rows(read_benchmark(listed + head + line, "t", context).table, "t")[0].group.ranks() == 2);
  CHECK(
      read_collective_rows(read_benchmark("alltoall_perf\n" + listed + head + line, "t", context).table, "t")[0].kind ==
      Collective::all_to_all);
}

TEST_CASE("benchmark files: what is missing or unknown is said", "[validation]") {
  CHECK(problem_of("", on("L40S")) == "input.unknown_format");
  CHECK(problem_of("hello\n", on("L40S")) == "input.unknown_format");
  CHECK(problem_of(R"({"completed": 0})", on("L40S")) == "input.unknown_format");
  CHECK(problem_of("| model | test | t/s |\n| llama 7B F16 | tg 128 | 61.03 |\n", on("L40S")) == "input.bad_value");
  CHECK(problem_of("size algbw busbw\n 8 2 float sum -1 16.0 0.00 0.00\n", on("L40S")) == "input.bad_value");
  CHECK(problem_of("{\"completed\": 1e308, \"total_input_tokens\": 1e308, \"total_output_tokens\": 1, \"model_id\": "
                   "\"m\", \"mean_ttft_ms\": "
                   "-5}",
                   on("L40S")) == "input.unknown_format");
}

TEST_CASE("benchmark files: results that are no measurement are counted", "[validation]") {
  BenchmarkContext context = on("L4");
  context.model = "llama-3.1-8b";
  const BenchmarkTable read = read_benchmark(
      R"([{"n_prompt": 512, "n_gen": 0, "avg_ts": 900.5, "model_type": "llama 8B Q4_K - Medium", "model_filename": "a"},
          {"n_prompt": 0, "n_gen": 128, "avg_ts": 0, "model_type": "llama 8B Q4_K - Medium", "model_filename": "a"}])",
      "bench.json", context);
  CHECK(read.table.records.size() == 1);
  CHECK(read.without_value == 1);
}

}  // namespace gpuplan::testing
