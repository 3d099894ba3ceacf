#pragma once
/// From a training job to ranked offers: how long it takes, what it costs until it ends, and why the rest does not do.
///
///     TrainingEstimate e = estimate_training(catalog, request);
///     e.options.front().total.value, e.options.front().cost.p50()
///
/// Each kind of hardware and number of devices is laid out once, by the search over layouts, and joined to every offer of it. What is interrupted
/// (spot) or fails (every device now and then) is planned with checkpoints: the time of an option is the expected one with them.

#include <gpuplan/cost/goodput.hpp>
#include <gpuplan/cost/job_cost.hpp>
#include <gpuplan/cost/spot.hpp>
#include <gpuplan/perf/training.hpp>
#include <gpuplan/planner/estimate.hpp>
#include <gpuplan/planner/training.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

/// How much is trained, and which of the layout is left to the search.
struct TrainingLoad {
  double tokens = 0;              ///< 0: 20 a parameter when pretraining (Hoffmann et al. 2022), else 10 million
  std::int64_t global_batch = 0;  ///< sequences a step; 0: some 4 million tokens when pretraining, else 64 sequences
  std::optional<Seconds> deadline;
  std::optional<double> budget;   ///< in the request's currency
  std::vector<std::string> said;  ///< flags of the layout that were given: `tp`, `pp`, `zero`, `micro-batch`, …
  [[nodiscard]] bool is_said(std::string_view flag) const;
};

struct TrainingEstimateRequest {
  TrainingRequest training;  ///< model, method, framework, accelerators and number
  TrainingLoad load;
  EstimateRequest offers;  ///< of this: providers, contracts, places, currency, VAT, day and order
};

struct TrainingOption {
  const Provider* provider = nullptr;
  const Offer* offer = nullptr;
  const Accelerator* accelerator = nullptr;
  Fabric fabric;
  TrainingSpec job;
  std::int64_t instances = 1;
  std::int64_t devices = 1;
  std::int64_t hosts = 1;
  bool count_is_assumed = false;    ///< the price is of one device; that several share a host is assumed
  bool network_is_assumed = false;  ///< between hosts
  TrainingMemory memory;
  TrainingTime time;
  Interval<Seconds> work;          ///< without interruptions
  Interval<Seconds> total;         ///< with them, checkpoints and restarts; the expected one
  Bytes checkpoint;                ///< of the whole job
  Seconds save;                    ///< that one holds the job up
  std::optional<Goodput> goodput;  ///< where the rate of failures is known and the contract is not spot
  std::optional<SpotPlan> spot;    ///< where the rate of interruptions is known
  bool interruptions_unknown = false;
  JobCost cost;
  double per_hour = 0;
  std::optional<std::int64_t> price_age_days;
  bool on_pareto_front = false;
  std::int64_t dominated_by = 0;
};

struct TrainingEstimate {
  ServedModel model;
  ModelIdentity identity;
  const TrainingFramework* framework = nullptr;
  double tokens = 0;
  std::int64_t global_batch = 1;
  double trained_parameters = 0;
  std::vector<TrainingOption> options;  ///< ranked by the cost or the time of the whole job
  std::vector<RejectedOffer> rejected;
  std::vector<Warning> warnings;
  bool limits_failed = false;  ///< there are options, but none within the deadline or budget
};

/// Throws InputError when the job cannot be.
TrainingEstimate estimate_training(const Catalog& catalog, const TrainingEstimateRequest& request);

/// Records the terms of memory, time and money of an option.
void explain_training_option(const Catalog& catalog, const TrainingEstimateRequest& request,
                             const TrainingEstimate& estimate, const TrainingOption& option, Explain& why);

}  // namespace gpuplan
