#pragma once
// From what was typed to what it means, against a catalogue.

#include "commands.hpp"

#include <gpuplan/report/build.hpp>

#include <cstdint>

namespace gpuplan::cli {

// Whether the command converts money: where it does not, a catalogue without rates will do.
enum class Prices : std::uint8_t { unused, used };

// Throws InputError with every unknown name. Families that were taken for their members are told in `notices`.
EstimateRequest resolve_request(const Catalog& catalog, const Options& options, const Environment& environment,
                                Prices prices, std::vector<std::string>& notices);
// What is said of machines that are bought, in the currency of the answer.
OwnedTerms owned_terms(const Catalog& catalog, const Options& options);
// Deadline and budget of a job that ends.
JobLimits resolve_limits(const Catalog& catalog, const Options& options, const EstimateRequest& request);
// The same for a training job.
/// A training job with the offers it may run on.
TrainingEstimateRequest resolve_training_estimate(const Catalog& catalog, const Options& options,
                                                  const Environment& environment, TrainingMethod method,
                                                  std::vector<std::string>& notices);
TrainingRequest resolve_training(const Catalog& catalog, const Options& options, const Environment& environment,
                                 TrainingMethod method, std::vector<std::string>& notices);
// The Hub as the environment describes it; what takes long is told on standard error as it goes.
HubAccess hub_access(const Environment& environment);
ListFilter resolve_filter(const Catalog& catalog, const Options& options, const Environment& environment, Prices prices,
                          std::vector<std::string>& notices);

}  // namespace gpuplan::cli
