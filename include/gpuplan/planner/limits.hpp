#pragma once
/// What a device that runs a job could do at most, and the questions asked the other way round.
///
///     serving_limits(inputs, 4).longest_context
///     answer_fit(catalog, request, FitQuestion::max_context)   // → 57,344 tokens on 1 x RTX4090-24GB, bound by memory
///
/// All answers come from one bisection over a footprint that only grows.

#include <gpuplan/memory/inference.hpp>
#include <gpuplan/planner/estimate.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct ServingLimits {
  KvPool pool;                       ///< on one device
  std::int64_t longest_context = 0;  ///< of one sequence alone
  std::vector<std::string> flags;    ///< what to start the engine with: `--max-model-len 8192`
};
ServingLimits serving_limits(const InferenceMemoryInputs& in, std::int64_t concurrency);

/// The largest value from 1 to `most` for which `fits` holds, if it holds for all smaller ones; 0 when for none.
template <class Fits>
std::int64_t largest_that_fits(std::int64_t most, Fits fits) {
  std::int64_t low = 0;
  std::int64_t high = most + 1;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

enum class FitQuestion : std::uint8_t { max_context, max_concurrency, best_dtype, fewest_gpus };
std::string_view to_string(FitQuestion value);
Parsed<FitQuestion> parse_fit_question(std::string_view text);

struct FitAnswer {
  FitQuestion question = FitQuestion::max_context;
  const Accelerator* accelerator = nullptr;  ///< null: nothing fits
  Layout layout;
  std::int64_t value = 0;  ///< tokens, requests or devices
  std::string dtype;       ///< that the answer holds for
  std::string
      bound;  ///< what keeps it from being better: `memory`, `model` (its positions), `engine` (its sequences), `format`
  std::string needed;  ///< one step further, a device; empty where memory does not bind
  std::string available;
};

/// For each accelerator of the request the answer is looked for; the best one is returned.
FitAnswer answer_fit(const Catalog& catalog, const EstimateRequest& request, FitQuestion question);

}  // namespace gpuplan
