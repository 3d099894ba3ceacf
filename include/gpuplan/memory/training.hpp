#pragma once
/// Memory of training and fine-tuning on every device, term by term: for each pipeline stage and phase, the peak, and what fits.
///
///     const TrainingMemory m = training_memory(inputs, nullptr);
///     m.peak().terms.total() <= m.capacity;  m.peak().phase == TrainingPhase::steady
///
/// Terms: `weights`, `master_weights`, `gradients`, `optimizer`, `adapters`, `fp8_weights`, `activations_attention`, `activations_mlp`,
/// `activations_experts`, `activations_recurrent`, `recompute`, `backward`, `checkpoints`, `logits`, `gathered`, `dequantized`, `buckets`, `update`, `workspace`,
/// `fragmentation`, `communication`, `context`. Activations are what each operation of a layer keeps for its backward pass, summed over
/// the kinds of layers. Source: docs/PHYSICS.md, "Training memory".

#include <gpuplan/base/breakdown.hpp>
#include <gpuplan/base/explain.hpp>
#include <gpuplan/deploy/deployment.hpp>
#include <gpuplan/job/training.hpp>
#include <gpuplan/memory/inference.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct TrainingMemoryInputs {
  const ServedModel* model =
      nullptr;  ///< its scheme is that of frozen quantized weights; others are as wide as the precision says
  const TrainingFramework* framework = nullptr;
  Fact<Bytes> visible;  ///< memory of one device that a program can use
  TrainingSpec job;
  const Catalog* catalog = nullptr;  ///< only for naming the sources of facts in explanations
};

/// `load`: weights are there, nothing has run. `first_step`: no optimizer states yet. `steady`: a backward pass begins, gradients of
/// earlier micro-batches are gone. `accumulation`: they are there. `update`: the optimizer's step. `checkpoint`: weights are written.
enum class TrainingPhase : std::uint8_t { load, first_step, steady, accumulation, update, checkpoint };
std::string_view to_string(TrainingPhase value);

/// One device of a pipeline stage in one phase.
struct StageMemory {
  std::int64_t stage = 0;
  TrainingPhase phase = TrainingPhase::steady;
  Breakdown<Bytes> terms;
};

/// Which part of a device's memory a figure counts: tensors, what the allocator holds, what the driver reports.
enum class MemoryKind : std::uint8_t { allocated, reserved, device };

struct TrainingMemory {
  std::vector<StageMemory> phases;  ///< by stage, then by phase
  std::size_t peak_index = 0;
  Bytes capacity;
  Recompute recompute = Recompute::none;  ///< what the job or its framework came to
  FitVerdict verdict =
      FitVerdict::does_not_fit;  ///< `fits` at the upper end of every term, `tight` at the estimate only
  [[nodiscard]] const StageMemory& peak() const { return phases[peak_index]; }
  [[nodiscard]] Bytes headroom() const { return capacity - peak().terms.total(); }
};

/// @param why  receives the terms of the fullest stage in its fullest phase
TrainingMemory training_memory(const TrainingMemoryInputs& in, Explain* why);

/// The verdict alone, from the stages that can be the fullest and no further than the first phase that does not fit: for searches.
FitVerdict training_verdict(const TrainingMemoryInputs& in);

/// The peak as a tool would report it.
/// @param stage  of this pipeline stage alone; empty: of the fullest
Bytes reported_peak(const TrainingMemory& memory, MemoryKind kind, std::optional<std::int64_t> stage = {});

/// Parameters that a LoRA or DoRA job trains.
double adapter_parameters(const ServedModel& model, const TrainingSpec& job);

/// Bytes that one token keeps of one layer for the backward pass, averaged over the layers: on one rank, without recomputation.
Bytes activation_bytes_per_token(const TrainingMemoryInputs& in);

/// The largest micro-batch of the job's sequences that fits; 0 when none does. Everything that grows does so linearly.
std::int64_t largest_micro_batch(const TrainingMemoryInputs& in);

/// The longest sequence that fits with the job's micro-batch, up to `limit`; 0 when none does.
std::int64_t longest_sequence(const TrainingMemoryInputs& in, std::int64_t limit);

/// A change of the job with what it leads to.
struct TrainingChange {
  std::string id;       ///< `recompute`, `zero`, `optimizer`, …
  std::string message;  ///< `recompute every layer`
  std::string cost;     ///< what it takes: `a forward pass more, about a third of the time`
  TrainingSpec job;
  Bytes peak;
  FitVerdict verdict = FitVerdict::does_not_fit;
};

/// Single changes that make a job fit, the cheapest first; then, when none does, the shortest chain of them as one change.
std::vector<TrainingChange> changes_that_fit(const TrainingMemoryInputs& in);

}  // namespace gpuplan
