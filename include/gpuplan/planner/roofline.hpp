#pragma once
/// One job on the smallest number of one accelerator that carries it, step by step and operator by operator.

#include <gpuplan/perf/workload.hpp>
#include <gpuplan/planner/estimate.hpp>

#include <string_view>
#include <vector>

namespace gpuplan {

/// What sets an operator's time: the larger of its arithmetic and its memory traffic, or its launch when that is larger than
/// both. `link`: collectives. `host`: scheduler and sampler.
enum class Bound : std::uint8_t { compute, memory, launch, link, host };
std::string_view to_string(Bound value);

struct PlottedOperator {
  std::string_view id;
  Operator op;         ///< empty of collectives and the scheduler
  double ceiling = 0;  ///< FLOP/s that the device reaches in its arithmetic; 0 where there is none
  Seconds time;        ///< of all `op.count`
  Bound bound = Bound::memory;
};

struct PlottedPhase {
  Phase phase = Phase::decode;
  double sequences = 1;
  double tokens = 0;  ///< of the step
  Seconds time;
  std::vector<PlottedOperator> operators;  ///< the time adds up
};

struct RooflinePlan {
  Estimate estimate;  ///< of the one accelerator
  JobSpec job;
  double concurrency = 1;
  std::vector<PlottedPhase>
      phases;  ///< prefill of one prompt, decode of all running sequences; empty when nothing fits
  std::vector<ExplainedTerm> explanation;
};

/// @param request  with exactly one accelerator
RooflinePlan plan_roofline(const Catalog& catalog, const EstimateRequest& request, bool explain);

}  // namespace gpuplan
