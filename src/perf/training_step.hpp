#pragma once
// A step of training in seconds, from the seconds of its parts: what reports and the search over layouts share.

#include <gpuplan/perf/training.hpp>

#include <algorithm>

namespace gpuplan {

// One direction of a micro-batch through all layers.
struct PassSeconds {
  double compute = 0;
  double attention = 0;  // of compute
  double tensor = 0;
  double experts = 0;
  double context = 0;
};

// What depends on the micro-batch and on how a layer is divided.
struct LayerSeconds {
  PassSeconds forward, backward, recomputed;
  double first_end = 0;
  double last_end = 0;
  double swapped = 0;  // activations to the host and back
};

// What depends on the pipeline and on what data-parallel ranks divide.
struct StateSeconds {
  double forward_weights = 0;
  double backward_weights = 0;
  double gradients = 0;
  double regathered = 0;
  double update = 0;
  double offload = 0;       // once a step
  double offload_each = 0;  // of one micro-batch
};

struct StepShapeOf {
  double micro_batches = 1;
  double stages = 1;
  double chunks = 1;
  double fullest = 1;
  double handover = 0;
  bool gradients_overlap = true;
  bool layers_overlap = false;
};

// Seconds of one micro-batch on the fullest stage.
struct StagePass {
  double compute = 0, tensor = 0, experts = 0, context = 0, weights = 0;
  [[nodiscard]] double total() const { return compute + tensor + experts + context + weights; }
};

struct StepSeconds {
  StagePass forward, backward, recomputed;
  double stage = 0;                            // of one micro-batch: the three passes
  double ends = 0, handover = 0, swapped = 0;  // of one micro-batch
  double bubble = 0, gradients = 0, regathered = 0, update = 0, offload = 0, host = 0;
  [[nodiscard]] double total(double micro_batches) const {
    return micro_batches * (stage + ends + handover + swapped) + bubble + gradients + regathered + update + offload +
           host;
  }
};

// What of `other` is seen beside `work` when both run at once.
inline double exposed_seconds(double other, double work, double share) {
  return std::max(0.0, other - work) + share * std::min(other, work);
}

inline StagePass stage_pass(const PassSeconds& pass, const StepShapeOf& shape, double weights, double hidden) {
  const double fullest = shape.fullest;
  StagePass p;
  p.compute = fullest * pass.compute;
  const double products = p.compute - fullest * pass.attention;
  p.tensor = fullest * pass.tensor;
  p.experts = fullest * pass.experts;
  if (shape.layers_overlap) {  // beside products: each hides in half of them
    p.tensor = exposed_seconds(p.tensor, products / 2, hidden);
    p.experts = exposed_seconds(p.experts, products / 2, hidden);
  }
  p.context = exposed_seconds(fullest * pass.context, fullest * pass.attention, hidden);
  p.weights = exposed_seconds(weights, p.compute, hidden);
  return p;
}

inline StepSeconds join_step(const LayerSeconds& layers, const StateSeconds& states, const StepShapeOf& shape,
                             const TrainingConstants& c) {
  StepSeconds s;
  s.forward = stage_pass(layers.forward, shape, states.forward_weights, c.hidden);
  s.recomputed = stage_pass(layers.recomputed, shape, 0, c.hidden);
  s.backward = stage_pass(layers.backward, shape, states.backward_weights, c.hidden);
  s.stage = s.forward.total() + s.backward.total() + s.recomputed.total();
  const double compute = s.forward.compute + s.backward.compute + s.recomputed.compute;
  s.swapped = exposed_seconds(shape.fullest * layers.swapped, compute, c.hidden);
  const bool piped = shape.stages > 1;
  s.ends = piped ? std::max(layers.first_end, layers.last_end) : layers.first_end + layers.last_end;
  s.handover = piped ? 2 * shape.chunks * shape.handover : 0;
  s.bubble = (shape.stages - 1) / shape.chunks * (s.stage + s.handover);
  s.gradients =
      shape.gradients_overlap ? exposed_seconds(states.gradients, s.backward.compute, c.hidden) : states.gradients;
  s.regathered =
      shape.gradients_overlap ? exposed_seconds(states.regathered, s.forward.compute, c.hidden) : states.regathered;
  s.update = states.update;
  s.offload = states.offload + shape.micro_batches * states.offload_each;
  s.host = c.step;
  return s;
}

// Parts of `training_work`, for searches: what `layer_seconds` reads of it, and what `state_seconds` and `shape_of` read.
TrainingWork layer_work(const TrainingTimeInputs& in, const Ceilings& ceilings);
TrainingWork state_work(const TrainingTimeInputs& in, const Ceilings& ceilings);

LayerSeconds layer_seconds(const TrainingWork& work, const TrainingConstants& constants);
StateSeconds state_seconds(const TrainingWork& work, const TrainingConstants& constants);
StepShapeOf shape_of(const TrainingWork& work);

// Seconds from stage to stage, one direction of one micro-batch.
double handover_seconds(const TrainingTimeInputs& in);

}  // namespace gpuplan
