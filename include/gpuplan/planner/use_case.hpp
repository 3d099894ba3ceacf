#pragma once
/// A job with what its use case says where the user said nothing.
///
///     apply_use_case(catalog, job);   // lengths, pauses, targets of `job.load.use_case`

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/job/job.hpp>

namespace gpuplan {

/// Nothing without a use case. Throws InputError for an unknown one.
void apply_use_case(const Catalog& catalog, JobSpec& job);

}  // namespace gpuplan
