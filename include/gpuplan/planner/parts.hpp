#pragma once
/// From a job for a network that does not generate token by token to the accelerators that hold it, the smallest first.

#include <gpuplan/memory/parts.hpp>
#include <gpuplan/perf/parts.hpp>
#include <gpuplan/planner/estimate.hpp>
#include <gpuplan/planner/model_resolution.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

/// One device of a kind; every further one is a copy with work of its own.
struct PartsFit {
  const Accelerator* accelerator = nullptr;
  std::int64_t count = 1;
  PartsMemory memory;
  std::optional<Rejection> rejection;
  std::int64_t batch = 1;         ///< that is run
  std::optional<PartsTime> time;  ///< of a batch; empty where only memory was asked for, or with a rejection
};

struct PartsPlan {
  StoredNetwork model;
  ModelIdentity identity;
  const Runtime* runtime = nullptr;
  JobType type = JobType::generate;
  PartsJob job;
  bool dtype_is_asked = false;
  std::vector<std::string> not_modelled;  ///< terms and parts that the figures leave out
  std::vector<PartsFit> hardware;         ///< those that hold it first, the least memory first
};

/// Whether a model has parts and none of them generates token by token.
bool runs_by_parts(const ResolvedModel& model);

/// Whether a sampler runs over a part step by step: pictures and videos are generated.
bool has_denoiser(const Network& network);

/// The plan without hardware. Throws InputError when the job cannot be: a library that does not run such networks, a size for a
/// network without pictures, …
PartsPlan plan_parts(const Catalog& catalog, const JobSpec& job, const ResolvedModel& model);

/// The same on each accelerator. Of the request the job, the accelerators and the count are used.
PartsPlan fit_parts(const Catalog& catalog, const EstimateRequest& request, const ResolvedModel& model);

/// `plan` and `catalog` must outlive them.
PartsMemoryInputs inputs_of(const Catalog& catalog, const PartsPlan& plan, const Accelerator& accelerator);

/// A format that was asked for and that the devices do not compute in.
std::optional<Rejection> check_format(const PartsPlan& plan, const Accelerator& accelerator);
/// Whose devices the library does not run on.
std::optional<Rejection> check_runtime(const Runtime& runtime, const Accelerator& accelerator);

/// Why a footprint does not run: too much memory, or a map that is too large for the library's kernels.
std::optional<Rejection> refusal(const PartsPlan& plan, const PartsMemory& memory);

}  // namespace gpuplan
