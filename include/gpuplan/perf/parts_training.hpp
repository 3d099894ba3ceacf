#pragma once
/// Time of training networks that do not generate token by token: image networks, encoders, the denoiser of a diffusion pipeline.
///
///     PartsTrainingInputs in;
///     in.forward.model = &resnet;  in.forward.job.batch = 256;  in.group = {8, 1};
///     parts_seconds(parts_training_work(in, ceilings), constants);
///
/// A backward pass is two products for each of the forward pass, and as much more of everything else. Devices hold the whole
/// network and exchange gradients while the backward pass runs; then each updates its weights, which moves the optimizer's states
/// through memory. Of a diffusion pipeline the denoiser is trained, its text encoders run forward alone, and pictures are latents
/// already. Source: docs/PHYSICS.md, "Time of other networks".

#include <gpuplan/perf/parts.hpp>
#include <gpuplan/topology/collectives.hpp>

#include <string_view>

namespace gpuplan {

struct PartsTrainingInputs {
  PartsTimeInputs forward;  ///< of one device's share of the batch
  RankGroup group;          ///< the devices that share the batch
  Fabric fabric;
  std::string_view optimizer;  ///< `sgd-momentum`, `lars`, `adamw`, `lamb`; empty: with one state
};

PartsWork parts_training_work(const PartsTrainingInputs& in, const Ceilings& ceilings);

/// Bytes that an optimizer moves for a parameter: weight, gradient and states in fp32 read, weight and states written, and
/// the 16-bit copy of the weight.
double optimizer_bytes(std::string_view optimizer);

}  // namespace gpuplan
