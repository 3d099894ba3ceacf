#pragma once
/// Time of one optimizer step of training or fine-tuning: docs/PHYSICS.md, "Training time".
///
/// A step is the pipeline's passes over all micro-batches, the exchange of gradients that no backward pass hides, the optimizer and
/// the host:
///     pass      = forward + backward + recomputed, each operator by the roofline, with the collectives of TP, CP and EP
///     pipeline  = micro_batches · (pass of the fullest stage + its end) + (pp − 1) / vpp · pass
///     step      = pipeline + exposed gradients + update + weights gathered again + host
/// Where weights are divided among data-parallel ranks (ZeRO-3, FSDP) each pass gathers them while it computes.
///
///     const TrainingTime t = training_time(inputs, ceilings, nullptr);
///     t.step.value; t.tokens_per_s.value; t.mfu
///
/// MFU counts the model's FLOPs, three forward passes with attention over the whole square of the sequence (Chowdhery et al. 2022,
/// appendix B), over the datasheet's dense 16-bit peak; HFU adds what is recomputed.

#include <gpuplan/base/breakdown.hpp>
#include <gpuplan/base/explain.hpp>
#include <gpuplan/memory/training.hpp>
#include <gpuplan/perf/ceilings.hpp>
#include <gpuplan/perf/interval.hpp>
#include <gpuplan/topology/fabric.hpp>

#include <string_view>
#include <vector>

namespace gpuplan {

struct TrainingTimeInputs {
  TrainingMemoryInputs memory;  ///< model, framework and job; an open `recompute` is what the framework comes to
  const Accelerator* accelerator = nullptr;
  Fabric fabric;
};

/// The fitted constants of a framework (data/training.yaml) as plain numbers.
struct TrainingConstants {
  double compute = 1;    ///< share of the compute ceiling in matrix products
  double attention = 1;  ///< share of the compute ceiling in attention
  double bandwidth = 1;  ///< share of the bandwidth ceiling
  double launch = 0;     ///< seconds a kernel: its start and its end, when the device is not full
  double hidden =
      0;            ///< share of the lesser of communication and computation that is not hidden where both run at once
  double step = 0;  ///< host seconds a step: data, scheduling, logging
};
TrainingConstants constants_of(const TrainingFramework& framework);

/// An operator of a pass on one device.
struct PassOperator {
  std::string_view id;  ///< a literal, as of model/operators.hpp
  double count = 1;
  double flops = 0;  ///< of one
  double bytes = 0;  ///< of one
  double kernels = 1;
  double ceiling = 0;      ///< FLOP/s; 0 when nothing is known: memory alone limits
  bool attention = false;  ///< whose share of the ceiling is its own
};

/// One direction of a micro-batch through all layers on one device.
struct PassWork {
  std::vector<PassOperator> operators;
  double tensor = 0;   ///< seconds of collectives of tensor parallelism
  double experts = 0;  ///< seconds of all-to-alls of expert parallelism
  double context = 0;  ///< seconds of gathering keys and values of context parallelism, beside attention
  double weights = 0;  ///< seconds of gathering divided weights and scattering their gradients, of one stage
};

/// What a step has to do, before any framework's constants.
struct TrainingWork {
  double micro_batches = 1;
  double stages = 1;
  double chunks = 1;   ///< model chunks a stage
  double fullest = 1;  ///< share of the layers on the fullest stage
  PassWork forward, backward, recomputed;
  std::vector<PassOperator> first_end, last_end;  ///< embedding; output head and loss: forward and backward
  double handover = 0;                            ///< seconds from stage to stage, one direction of one micro-batch
  double gradients = 0;                           ///< seconds of reducing gradients among data-parallel ranks
  bool gradients_overlap = true;
  bool layers_overlap = false;    ///< collectives of tensor and expert parallelism, with products
  double regathered = 0;          ///< seconds of gathering updated weights
  double update_bytes = 0;        ///< that the optimizer moves on one device
  double offload_bytes = 0;       ///< over the host link, once a step
  double swapped_bytes = 0;       ///< activations to the host and back, of one micro-batch and all layers
  double offload_bytes_each = 0;  ///< of one micro-batch
  double host_rate = 0;           ///< bytes/s of the host link
  double bandwidth = 0;           ///< ceiling, bytes/s
  double tokens = 0;              ///< a step, of all devices
  double devices = 1;
  double model_flops = 0;  ///< a step, of all devices
  double hardware_flops = 0;
  double peak = 0;  ///< datasheet, dense 16 bit, one device; 0 when unknown
};

TrainingWork training_work(const TrainingTimeInputs& in, const Ceilings& ceilings);

/// Seconds of a step by terms: `forward`, `backward`, `recompute`, `ends`, `tensor_parallel`, `expert_parallel`, `context_parallel`,
/// `sharded_weights`, `handover`, `bubble`, `gradients`, `update`, `offload`, `swapped` (activations), `host`.
Breakdown<Seconds> step_terms(const TrainingWork& work, const TrainingConstants& constants, Explain* why = nullptr);

/// Their sum.
double step_seconds(const TrainingWork& work, const TrainingConstants& constants);

struct TrainingTime {
  Breakdown<Seconds> terms;
  Interval<Seconds> step;
  Interval<TokensPerSecond> tokens_per_s;  ///< of all devices
  double mfu = 0;                          ///< 0: no peak is known
  double hfu = 0;
  double tokens_per_step = 0;
  double flops_per_step = 0;  ///< the model's
  [[nodiscard]] double bubble_share() const { return terms.of("bubble") / terms.total(); }
};
TrainingTime training_time(const TrainingTimeInputs& in, const Ceilings& ceilings, Explain* why);

}  // namespace gpuplan
