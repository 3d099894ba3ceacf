#pragma once
/// A job with what its use case says where the user said nothing.
///
///     apply_use_case(load_use_cases(), job);   // lengths, pauses, targets of `job.load.use_case`

#include <gpuplan/catalog/use_cases.hpp>
#include <gpuplan/job/job.hpp>

#include <span>

namespace gpuplan {

/// Throws InputError for an unknown use case.
void apply_use_case(std::span<const UseCase> use_cases, JobSpec& job);

}  // namespace gpuplan
