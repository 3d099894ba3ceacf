#pragma once
/// What benchmarks print, as a table in the measurement format, so that the same code predicts, scores and fits it.
///
/// Read are: result files of vLLM's and SGLang's serving benchmarks (JSON, one object or one a line, and what they print), llama-bench
/// (JSON, JSONL, CSV, Markdown), genai-perf (JSON and what it prints), nccl-tests, and our own CSV as it is. A file is known by what
/// is in it. What such a file does not say (the device, how many, the model's name in the catalogue) comes from the context.

#include <gpuplan/validation/csv.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuplan {

struct BenchmarkContext {
  std::string accelerator;
  std::int64_t count = 1;              ///< devices of the run
  std::optional<std::int64_t> tp;      ///< else `count`
  std::string model, weights, engine;  ///< empty: as the file says
  std::string link, network_link;      ///< that joins the devices; for collectives
  double network_gbit = 0;             ///< of a host
  std::int64_t devices_per_host = 8;
};

struct BenchmarkTable {
  std::string format;  ///< `vllm`, `llama-bench`, `genai-perf`, `nccl-tests`, `table`
  CsvTable table;
  std::int64_t without_value = 0;  ///< results that were left out: zero, negative or no number
};

/// Throws InputError when the text is none of these, a number is none, or the context lacks what the file does not say.
BenchmarkTable read_benchmark(std::string_view text, std::string_view origin, const BenchmarkContext& context);

}  // namespace gpuplan
