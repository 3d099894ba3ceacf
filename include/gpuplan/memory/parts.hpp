#pragma once
/// Memory of running a network's parts on one device: diffusion pipelines, encoders, image networks, anything that is tensors.
///
///     PartsMemoryInputs in;
///     in.network = &sdxl;  in.runtime = catalog.find_runtime("diffusers");  in.job.batch = 4;
///     parts_memory(in, nullptr).terms.total();
///
/// Terms: `weights` (of what is on the device at once), `activations` (the fullest operation of the fullest part), `workspace`,
/// `context`. An operation holds its input, the residual beside it and its output; attention holds queries, keys, values, result and,
/// where they are stored, its scores. Source: docs/PHYSICS.md, "Memory of other networks".

#include <gpuplan/base/breakdown.hpp>
#include <gpuplan/base/explain.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/job/parts.hpp>
#include <gpuplan/memory/inference.hpp>
#include <gpuplan/memory/part_sizes.hpp>
#include <gpuplan/model/network.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

struct PartsMemoryInputs {
  const StoredNetwork* model = nullptr;
  const Runtime* runtime = nullptr;
  Fact<Bytes> visible;  ///< memory of the device that a program can use
  PartsJob job;
  const Catalog* catalog = nullptr;  ///< only for naming the sources of facts in explanations
};

/// The fullest operation of a part with one item, in elements; `element` is what one takes.
struct PartPeak {
  std::string operation;  ///< a tensor's name, or `attention`
  double items = 0;       ///< that go through it at once
  double maps = 0;        ///< its input twice (it is the residual too) and its output
  double layouts = 0;     ///< copies in the layout of convolution kernels
  double scores = 0;      ///< attention scores
  Bytes element;
};

struct PartFootprint {
  std::string name;
  std::string title;
  Bytes weights;
  Bytes largest_tensor;  ///< of the weights
  Bytes activations;     ///< 0 when the job does not run the part
  PartPeak peak;
  double largest_map = 0;  ///< elements of the largest map of a convolution
};

struct PartsMemory {
  Breakdown<Bytes> terms;
  Bytes capacity;
  FitVerdict verdict = FitVerdict::does_not_fit;
  std::vector<PartFootprint> parts;
  std::size_t fullest = 0;  ///< the part whose activations (and weights, with offload) stand in the terms
  [[nodiscard]] Bytes headroom() const { return capacity - terms.total(); }
};

PartsMemory parts_memory(const PartsMemoryInputs& in, Explain* why);

inline constexpr double kUsualLength = 512;  ///< tokens: what most text encoders were trained with

/// Whether a part is run step by step by a sampler: UNets and diffusion transformers.
bool is_denoiser(const NetworkPart& part);
/// Whether classifier-free guidance doubles a denoiser's batch unless the job says otherwise: not where it is distilled in.
bool doubles_batch(const NetworkPart& part);
/// Tokens of each text when the job does not say: what the denoiser was trained with, else `otherwise`.
double text_length(const Network& network, const PartsJob& job, double otherwise);

}  // namespace gpuplan
