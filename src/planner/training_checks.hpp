#pragma once
// What of a training job contradicts its model or itself, whatever it runs on.

#include <gpuplan/planner/training_estimate.hpp>

#include <optional>
#include <span>
#include <string>

namespace gpuplan {

// Throws InputError with all problems.
// @param said  names of the flags that were given: what was not is searched
void check_training_job(const TrainingRequest& request, const ServedModel& model, std::span<const std::string> said);

// A micro-batch that a step's sequences do not come to. Throws InputError.
void check_batch(const TrainingRequest& request, const TrainingLoad& load, std::int64_t global_batch);

// A step of more tokens than the whole job has.
std::optional<Warning> beyond_tokens(const TrainingLoad& load, std::int64_t global_batch, std::int64_t sequence);

// Adapters for products that the model does not have.
std::optional<Problem> missing_targets(const TrainingRequest& request, const ServedModel& model);

}  // namespace gpuplan
