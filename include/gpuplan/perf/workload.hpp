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
  double concurrency = 1;       ///< requests in flight on the replica
  double most_running = 0;      ///< sequences that memory and engine let run at once; the others queue. 0: no limit
  bool arrivals = false;        ///< requests arrive by themselves, not when another ends
  bool stages_in_turn = false;  ///< layers are split over devices that wait for each other: no micro-batches
  std::int64_t attention_replicas =
      1;  ///< of the group's ranks: attention by sequences instead of heads ("DP attention")
};

/// Tokens guessed ahead and checked together by the model: Leviathan, Kalman, Matias, "Fast Inference from Transformers via Speculative
/// Decoding", ICML 2023. With a share `acceptance` of the guesses right, each by itself, a step yields (1 − a^(k+1)) / (1 − a) tokens.
struct Speculation {
  double tokens = 0;      ///< guessed a step; 0: none
  double acceptance = 0;  ///< of a guess, 0 to 1
  double draft_share =
      0;  ///< of the time of a decode step, for each guess; 0: as `ServedModel::draft` takes, nothing without one
  [[nodiscard]] double tokens_per_step() const;
};

struct ServingJob {
  const ServedModel* model = nullptr;
  const Engine* engine = nullptr;
  RequestShape request;
  double prefix_hit = 0;  ///< share of the input that lies in the cache already, 0 to 1
  Speculation speculation;
};

/// The fitted constants of an engine (data/engines.yaml) as plain numbers: shares and seconds.
struct EngineConstants {
  double compute = 1;      ///< share of the compute ceiling in matrix products
  double dequantized = 1;  ///< the same when weights are expanded to 16 bit on the way
  double attention = 1;    ///< share of the compute ceiling in attention
  double bandwidth = 1;    ///< share of the bandwidth ceiling
  double overlap = 0;      ///< kappa
  double launch = 0;       ///< seconds a kernel: its start and its end, when the device is not yet or no longer full
  double host_launch =
      0;  ///< host seconds a kernel of a step that is not captured in a graph, while the device works on others
  double step = 0;     ///< host seconds a sequence and step: scheduler, sampler, text
  double request = 0;  ///< seconds a request before its first token
  double host = 0;     ///< host seconds a step, whatever runs in it
  double stream = 0;   ///< host seconds a token that is sent to a client
  double meeting = 0;  ///< prompts that a prompt of a closed loop meets, as far as there are so many
  double in_step = 0;  ///< share of all others' prompts that come before one's own in a closed loop
};
EngineConstants constants_of(const Engine& engine);
/// An engine that reaches all and costs nothing, with the same order of requests.
EngineConstants ideal_constants(const EngineConstants& constants);

/// An operator on one device with what that device could reach.
struct OperatorWork {
  Operator op;
  double ceiling = 0;         ///< FLOP/s; 0 when nothing is known, then memory alone limits
  double bandwidth = 0;       ///< bytes/s
  double tail = 0;            ///< FLOPs that the ceiling could do while the last wave of a product's tiles is not full
  double expanded = 0;        ///< bytes of weights that are written in 16 bit and read again before the product
  double best_ceiling = 0;    ///< the datasheet's peak, or the ceiling where boards boost above it
  double best_bandwidth = 0;  ///< the datasheet's
};

struct StepWork {
  std::vector<OperatorWork> operators;
  Seconds collectives;
  double sequences = 1;   ///< that the scheduler and the sampler handle
  bool streamed = false;  ///< each sequence's token is sent to a client at once
  double launched = 0;    ///< kernels that the host launches one by one; 0 where a graph was captured, and on CPUs
};

struct ServingWork {
  double input = 0;
  double output = 0;
  double in_flight = 1;
  double running = 1;        ///< of those in flight
  double batched = 1;        ///< prompts that share a prefill step
  double stages = 1;         ///< of the pipeline
  double yield = 1;          ///< tokens that a decode step gives each sequence
  double draft = 0;          ///< share of a decode step that guessing takes on top
  bool closed_loop = false;  ///< a new request comes when one ends: equal ones that started together go on together
  double chunks = 1;         ///< steps that one prompt is computed in, each of `prompt`
  double chunk_stages = 1;   ///< devices that work on as many chunks at once
  StepWork prompt;           ///< prefill of one prompt, or of a chunk of it
  StepWork prompts;          ///< prefill of `batched` prompts; empty when batched is 1
  StepWork decode;           ///< one token of each running sequence of a micro-batch
};

ServingWork serving_work(const ServingJob& job, const ServingCandidate& candidate, const Ceilings& ceilings);

/// Share of the compute ceiling that applies to an operator.
double compute_share(const EngineConstants& constants, const Operator& op);

/// What an operator's products and its memory reach: the ceilings times the engine's shares, and never more than the datasheet allows.
double compute_rate(const OperatorWork& work, const EngineConstants& constants);
double memory_rate(const OperatorWork& work, const EngineConstants& constants);

/// Seconds of an operator, all its equal ones together.
double operator_time(const OperatorWork& work, const EngineConstants& constants);

/// Seconds of a prompt out of those of its chunk.
double prompt_seconds(const ServingWork& work, double chunk);

/// Seconds of a step's operators and collectives.
double device_seconds(const StepWork& work, const EngineConstants& constants);

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

/// The least latencies that physics allows in the same order of requests: decoding at the floor with the others' prompts, and a first token
/// not before one prompt at the floor.
JoinedSeconds least_seconds(const ServingWork& work, const EngineConstants& constants);

/// The all-reduces and stage hops of one step of `tokens` tokens through the whole model.
Seconds step_collectives(const ServingJob& job, const ServingCandidate& candidate, Phase phase, double tokens,
                         Explain* why);

}  // namespace gpuplan
