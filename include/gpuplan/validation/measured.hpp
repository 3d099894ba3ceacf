#pragma once
/// Published measurements of inference, one result a row: data/measured/inference.csv and files of that format.
///
/// An empty field is not known. Names are the catalogue's. Columns that are not listed here are ignored.

#include <gpuplan/validation/csv.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

enum class MeasuredMode : std::uint8_t {
  unknown,
  single,
  static_batch,
  concurrency,
  offline,
  open_loop,
  server,
  disaggregated,
  load
};
std::string_view to_string(MeasuredMode value);

enum class Metric : std::uint8_t {
  ttft_s,
  tpot_s,
  itl_s,
  e2e_s,
  prefill_tokens_per_s,
  decode_tokens_per_s,
  output_tokens_per_s,
  output_tokens_per_s_per_device,
  total_tokens_per_s,
  requests_per_s,
  batch_latency_s,
  other  ///< memory, images, audio: nothing that this module predicts
};
std::string_view to_string(Metric value);
/// More is better: the metric is an amount over time.
bool is_rate(Metric value);

struct MeasuredRow {
  std::string id;
  std::string source;  ///< family key: rows of one source are not independent
  std::string engine;
  std::string engine_version;
  std::string model;
  std::string accelerator;
  std::string weights;
  std::string kv;
  std::string variant;
  MeasuredMode mode = MeasuredMode::unknown;
  Metric metric = Metric::tpot_s;
  std::int64_t count = 1;
  std::int64_t tp = 1, pp = 1, ep = 1, dp = 1;
  std::optional<std::int64_t> input, output, batch, requests;
  std::optional<double> concurrency;   ///< in the whole deployment
  std::optional<double> request_rate;  ///< requests a second
  std::optional<double> memory_fraction;
  std::optional<double> bits;  ///< a weight, as the source states them
  std::int64_t cached = 0;     ///< of the input, in the cache before
  double value = 0;
};

/// Throws InputError with every problem: a missing column, a number that is none, a value that is not positive.
std::vector<MeasuredRow> read_measured(std::string_view text, std::string_view origin);
std::vector<MeasuredRow> read_measured(const CsvTable& table, std::string_view origin);

/// The value of a key of `variant` (`key=value` pairs joined by ';'), or empty.
std::string_view variant_of(const MeasuredRow& row, std::string_view key);

}  // namespace gpuplan
