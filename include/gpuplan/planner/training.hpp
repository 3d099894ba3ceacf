#pragma once
/// From a training job to the smallest number of each accelerator whose memory it fits, and what would make it fit on fewer.

#include <gpuplan/memory/training.hpp>
#include <gpuplan/planner/model_resolution.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

struct TrainingRequest {
  JobSpec job;  ///< model and formats; what it says of requests is not used
  TrainingSpec training;
  bool sharding_is_default = true;  ///< then the ranks divide as the framework does
  bool lora_rank_is_default = true;
  bool lora_targets_are_default = true;
  bool sequence_is_default = false;  ///< then no longer than the model's positions
  bool dtype_is_default = true;      ///< then frozen quantized weights are nf4
  std::string framework = "pytorch";
  HubAccess hub;
  std::vector<const Accelerator*> accelerators;  ///< empty: all
  std::optional<std::int64_t> count;             ///< devices in all
};

/// One accelerator: the smallest number that fits, or why none does.
struct TrainingFit {
  const Accelerator* accelerator = nullptr;
  TrainingSpec job;  ///< with the data-parallel ranks and what they divide
  TrainingMemory memory;
  std::int64_t largest_micro_batch = 0;
  std::int64_t longest_sequence = 0;
  std::optional<Rejection> rejection;   ///< then `memory` is that of the largest number tried
  std::vector<TrainingChange> changes;  ///< that make it fit on the number asked for, or on one device
};

struct TrainingPlan {
  ServedModel model;
  ModelIdentity identity;
  const TrainingFramework* framework = nullptr;
  std::vector<TrainingFit> hardware;  ///< those that fit first, fewest devices first
};

/// Throws InputError when the job cannot be: an unknown framework, a count that the layout does not divide, …
TrainingPlan fit_training(const Catalog& catalog, const TrainingRequest& request);

/// The framework and the model of a job in the formats it is trained in; of the request, what the framework does by default is filled in.
/// Throws InputError.
const TrainingFramework* prepare_training(const Catalog& catalog, TrainingRequest& request, ServedModel& model,
                                          ModelIdentity& identity);

/// The inputs of a fit's memory, for explanations. `plan` and `catalog` must outlive them.
TrainingMemoryInputs inputs_of(const Catalog& catalog, const TrainingPlan& plan, const TrainingFit& fit);

}  // namespace gpuplan
