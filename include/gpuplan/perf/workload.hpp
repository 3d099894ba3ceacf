#pragma once
/// What a replica has to do for its requests, before any engine's constants: FLOPs, bytes, launches and collectives of each step.
///
/// The engine's constants turn this work into seconds (`step_seconds`) and the steps into latencies (`join_phases`). Calibration
/// prepares the work of every measured row once and varies the constants only.
///
/// A request's prompt is timed alone and in a batch: prompts that arrive while others run share a step up to the engine's
/// `max_batched_tokens`, so that its weights are read and its kernels launched once for all of them.

#include <gpuplan/base/explain.hpp>
#include <gpuplan/deploy/deployment.hpp>
#include <gpuplan/perf/roofline.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace gpuplan {

/// One replica to be timed: a device, its fabric and a layout, with the load on it.
struct ServingCandidate {
  const Accelerator* accelerator = nullptr;
  Fabric fabric;
  Layout layout;
  double concurrency = 1;   ///< requests in flight on the replica
  double most_running = 0;  ///< sequences that memory and engine let run at once; the others queue. 0: no limit
};

struct ServingJob {
  const ServedModel* model = nullptr;
  const Engine* engine = nullptr;
  RequestShape request;
};

/// The fitted constants of an engine (data/engines.yaml) as plain numbers: shares and seconds.
struct EngineConstants {
  double compute = 1;      ///< share of the compute ceiling in matrix products
  double dequantized = 1;  ///< the same when weights are expanded to 16 bit on the way
  double attention = 1;    ///< share of the compute ceiling in attention
  double bandwidth = 1;    ///< share of the bandwidth ceiling
  double overlap = 0;      ///< kappa
  double launch = 0;       ///< seconds a kernel: its start and its end, when the device is not yet or no longer full
  double step = 0;         ///< host seconds a sequence and step: scheduler, sampler, text
  double request = 0;      ///< seconds a request before its first token
};
EngineConstants constants_of(const Engine& engine);

/// An operator on one device with what that device could reach.
struct OperatorWork {
  Operator op;
  double ceiling = 0;         ///< FLOP/s; 0 when nothing is known, then memory alone limits
  double bandwidth = 0;       ///< bytes/s
  double best_ceiling = 0;    ///< the datasheet's peak, or the ceiling where boards boost above it
  double best_bandwidth = 0;  ///< the datasheet's
};

struct StepWork {
  std::vector<OperatorWork> operators;
  Seconds collectives;
  double sequences = 1;  ///< that the scheduler and the sampler handle
};

struct ServingWork {
  double input = 0;
  double output = 0;
  double in_flight = 1;
  double running = 1;  ///< of those in flight
  double batched = 1;  ///< prompts that share a prefill step
  double stages = 1;   ///< of the pipeline
  bool in_step =
      false;         ///< prompts are finished before decoding goes on, so that equal requests start and end together
  StepWork prompt;   ///< prefill of one prompt
  StepWork prompts;  ///< prefill of `batched` prompts; empty when batched is 1
  StepWork decode;   ///< one token of each running sequence of a micro-batch
};

ServingWork serving_work(const ServingJob& job, const ServingCandidate& candidate, const Ceilings& ceilings);

/// Share of the compute ceiling that applies to an operator.
double compute_share(const EngineConstants& constants, const Operator& op);

/// Seconds of a step, operator by operator with plain doubles.
double step_seconds(const StepWork& work, const EngineConstants& constants);

/// Seconds of each phase.
struct PhaseSeconds {
  double prompt = 0;   ///< one prompt alone
  double prompts = 0;  ///< the batch of prompts
  double decode = 0;   ///< one decode step
};
PhaseSeconds phase_seconds(const ServingWork& work, const EngineConstants& constants);

/// The least that physics allows: each operator at the datasheet's rates, no launch, no host, no collective.
PhaseSeconds floor_seconds(const ServingWork& work);

/// Latencies of continuous batching in seconds; see docs/PHYSICS.md, "Serving".
struct JoinedSeconds {
  double ttft = 0;
  double tpot = 0;
  double step = 0;     ///< one decode step
  double prefill = 0;  ///< one prompt alone, with the request's overhead
  [[nodiscard]] double e2e(double output) const { return ttft + (output > 1 ? output - 1 : 0) * tpot; }
};
JoinedSeconds join_phases(const ServingWork& work, const PhaseSeconds& phases, const EngineConstants& constants,
                          Explain* why);

/// The all-reduces and stage hops of one step of `tokens` tokens through the whole model.
Seconds step_collectives(const ServingJob& job, const ServingCandidate& candidate, Phase phase, double tokens,
                         Explain* why);

}  // namespace gpuplan
