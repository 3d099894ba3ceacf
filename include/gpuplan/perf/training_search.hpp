#pragma once
/// The fastest layouts of a training job over so many devices: exhaustive over the space, with safe pruning.
///
/// The time of a layout is joined from tables: what depends on the micro-batch and on how a layer is divided, and what depends on the
/// pipeline and on what data-parallel ranks divide, are computed once each; a layout then costs some fifty operations. Only layouts that would
/// be among the best are checked for memory, and first against a bound that no layout can be below: the states and the kept activations of the
/// first stage. A test compares with brute force.
///
///     const LayoutSearch found = search_layouts(inputs, {.devices = 1024, .global_batch = 1536}, ceilings);
///     found.best.front().job.tp

#include <gpuplan/perf/training.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace gpuplan {

/// What may be chosen. An empty axis is filled with what the model and the number of devices allow.
struct LayoutSpace {
  std::int64_t devices = 1;
  std::int64_t global_batch = 0;  ///< sequences a step; 0: what the job's micro-batches come to on its own ranks
  std::vector<std::int64_t> tp, pp, cp, ep, micro_batch, vpp;
  std::vector<Recompute> recompute;
  std::vector<StateSharding> sharding;
  std::vector<TrainingOffload> offload;
  std::vector<bool> sequence_parallel, activation_offload;
  std::size_t keep = 5;      ///< how many of the best are returned
  bool check_memory = true;  ///< else the fastest, whatever they hold
  bool leaves_room =
      false;  ///< those that fit only if no overhead is above its estimate go last; published runs are tuned to the brim
};

struct LayoutChoice {
  TrainingSpec job;
  double step_seconds = 0;
  FitVerdict verdict = FitVerdict::fits;  ///< `tight` only where the space leaves room
};

struct LayoutSearch {
  std::vector<LayoutChoice>
      best;                    ///< that fit, fastest first; of two equal ones that with the fewer ranks of tp, then pp
  std::int64_t evaluated = 0;  ///< layouts whose time was computed
  std::int64_t too_large =
      0;  ///< layouts that were not timed: what they hold of weights and activations alone does not fit
  std::int64_t checked = 0;  ///< whose memory was
};

/// @param in  model, framework, accelerator, fabric and what the space leaves alone of the job
LayoutSearch search_layouts(const TrainingTimeInputs& in, const LayoutSpace& space, const Ceilings& ceilings);

/// The space with its empty axes filled: powers of two that divide the heads (tp), divisors of the layers (pp, vpp), powers of two (cp, while
/// a rank has 4,096 tokens), divisors of the experts (ep), powers of two (micro_batch, up to 64).
LayoutSpace filled(LayoutSpace space, const TrainingTimeInputs& in);

/// The same search layout by layout through training_time and training_memory: for tests.
LayoutSearch search_by_brute_force(const TrainingTimeInputs& in, const LayoutSpace& space, const Ceilings& ceilings);

}  // namespace gpuplan
