#pragma once
// Rows of a benchmark's file on their way to a table of the measurement format.

#include <gpuplan/base/error.hpp>
#include <gpuplan/validation/benchmark_files.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

// A number of tokens, requests or bytes without an exponent.
inline std::string count_text(double value) {
  constexpr double kMost = 9e15;  // a double counts so far
  return std::to_string(static_cast<std::int64_t>(std::clamp(std::round(value), 0.0, kMost)));
}

class BenchmarkRows {
 public:
  BenchmarkRows(std::string_view origin, const BenchmarkContext& context) : origin_(origin), context_(context) {}

  using Fields = std::map<std::string, std::string, std::less<>>;
  void add(int line, Fields fields);
  // One result of a serving run; counted and left out when the value is not above zero.
  void add_serving(int line, const Fields& shared, std::string_view metric, std::string_view statistic, double value);
  [[nodiscard]] const BenchmarkContext& context() const { return context_; }
  [[nodiscard]] std::string_view origin() const { return origin_; }
  [[noreturn]] void refuse(int line, std::string message, std::string expected) const {
    throw InputError(Problem{
        "input.bad_value", std::move(message), Place{std::string(origin_), line, 0}, std::move(expected), {}, {}});
  }
  [[nodiscard]] std::int64_t without_value() const { return without_value_; }
  CsvTable table() &&;

 private:
  std::int64_t without_value_ = 0;
  std::string_view origin_;
  const BenchmarkContext& context_;
  std::vector<std::pair<int, Fields>> rows_;
};

// Each reads one kind of file; false when the text is none.
bool read_serving_json(std::string_view text, BenchmarkRows& rows);
bool read_serving_console(std::string_view text, BenchmarkRows& rows);
bool read_llama_bench(std::string_view text, BenchmarkRows& rows);
bool read_genai_perf(std::string_view text, BenchmarkRows& rows);
bool read_nccl_tests(std::string_view text, BenchmarkRows& rows);

}  // namespace gpuplan
