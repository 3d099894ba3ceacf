#pragma once
/// From a number of prompts to be answered, by nobody who waits, to ranked offers: how long it takes and what it costs until it ends.
///
///     BatchEstimate e = estimate_batch(catalog, request, {.requests = 1e6});
///     e.options.front().total.value, e.options.front().cost.p50()
///
/// Each replica keeps so many requests in flight as give it the most tokens a second, and all replicas share the requests
/// evenly. An offer is rented in the smallest number that holds the model, or, to be in time, in as many as that takes.
/// An interruption of spot instances stops one replica and loses the requests that it has in flight.

#include <gpuplan/cost/job_cost.hpp>
#include <gpuplan/cost/spot.hpp>
#include <gpuplan/planner/estimate.hpp>
#include <gpuplan/planner/job_limits.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace gpuplan {

struct BatchLoad {
  double requests = 0;                ///< in all, each of the job's input and output
  std::optional<std::int64_t> batch;  ///< requests in flight on a replica; empty: the best
  JobLimits limits;
};

/// `load` is the requests in flight on a replica, `at` the times with them; `instances`, `devices` and the layout's replicas are those
/// that the job is spread over.
struct BatchOption : Option {
  Interval<Seconds> total;       ///< of the job; with interruptions the expected one
  std::optional<SpotPlan> spot;  ///< where the rate of interruptions is known
  bool interruptions_unknown = false;
  JobCost cost;
};

struct BatchEstimate {
  Estimate fit;  ///< model, engine, hardware, rejected offers and warnings; no options
  BatchLoad load;
  std::vector<BatchOption> options;  ///< ranked by the cost or the time of the whole job
  bool limits_failed = false;        ///< there are options, but none within the deadline or budget
};

/// Throws InputError as `make_estimate`. There is at least one request.
BatchEstimate estimate_batch(const Catalog& catalog, const EstimateRequest& request, const BatchLoad& load);

/// Evaluates an option again with a recorder: the terms of memory, time and money.
void explain_option(const Catalog& catalog, const EstimateRequest& request, const BatchEstimate& estimate,
                    const BatchOption& option, Explain& why);

}  // namespace gpuplan
