#pragma once
/// What training holds and keeps on one device, before it is summed up: the parts that the terms of memory and of time are made of.
/// docs/PHYSICS.md, "Training memory".

#include <gpuplan/memory/training.hpp>

namespace gpuplan {

// A pipeline stage: which share of the layers, and how many micro-batches of activations it keeps.
struct StageShape {
  std::int64_t stage = 0;
  double layers = 0;
  double share = 0;      // of all layers
  double in_flight = 1;  // micro-batches whose activations are alive, in units of the whole stage
  bool first = true;
  bool last = true;
};
StageShape stage_shape(const TrainingMemoryInputs& in, std::int64_t stage);

// Bytes of one element.
struct Widths {
  double weight = 2;
  double gradient = 2;
  double master = 4;
  double state = 4;
};
Widths widths_of(const TrainingMemoryInputs& in);  // of the model's own weights
Widths adapter_widths(const TrainingMemoryInputs& in);

// What one rank of a stage holds before data-parallel ranks divide it.
struct HeldStates {
  Bytes dense_weights;
  Bytes expert_weights;
  double dense_trained = 0;  // parameters
  double expert_trained = 0;
  Bytes dense_states;  // of the optimizer
  Bytes expert_states;
  double adapter_trained = 0;
  Bytes adapter_states;
  double eight_bit = 0;  // parameters of products that run in 8 bit
  Bytes layer_weights;   // of one layer, as they are stored
  double layer_trained = 0;
  Bytes root_weights;            // embedding and head
  Bytes largest_end;             // the larger of them
  double largest_tensor = 0;     // parameters
  double largest_quantized = 0;  // of those that are stored in fewer than 16 bits
};
HeldStates held_states(const TrainingMemoryInputs& in, const StageShape& stage);

// Over how many ranks something is divided; 1: whole everywhere.
struct ShardDegrees {
  double weights = 1, gradients = 1, states = 1;
  double expert_weights = 1, expert_gradients = 1, expert_states = 1;
};
ShardDegrees shard_degrees(const TrainingSpec& job);

// What one token keeps of one layer on one rank, by the kind of operation; averages over the layers.
struct KeptActivations {
  Bytes attention, mlp, experts, recurrent;
  Bytes heaviest;    // of the heaviest layer
  Bytes scores;      // of attention in one layer, where they are computed again
  Bytes checkpoint;  // the layer's input alone
  Bytes backward;    // gradients of intermediates that are alive at once in the heaviest operation
  [[nodiscard]] Bytes total() const { return attention + mlp + experts + recurrent; }
};
KeptActivations kept_activations(const TrainingMemoryInputs& in, Recompute recompute);

// The total of each stage, phase and moment of a pass, always in the same order; `recompute` must be resolved.
std::vector<Bytes> moment_totals(const TrainingMemoryInputs& in);

Recompute recompute_of(const TrainingMemoryInputs& in);  // `fitting` resolved
CrossEntropy cross_entropy_of(const TrainingMemoryInputs& in);

}  // namespace gpuplan
