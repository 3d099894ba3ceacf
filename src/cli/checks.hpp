#pragma once
// Flags that contradict each other or the model, refused before anything is planned.

#include "options.hpp"

#include <string_view>
#include <vector>

namespace gpuplan::cli {

using FlagNames = std::vector<std::string_view>;

/// @param but  those that mean something in this job, too
void refuse_training_flags(const Options& options, const FlagNames& but = {});
void refuse_parts_flags(const Options& options, const FlagNames& but = {});
/// Of flags about serving a language model: host memory, neighbours, the load.
void refuse_residency_flags(const Options& options, const FlagNames& but = {});
/// What describes requests means nothing to a training job, and what no search over layouts reads is not ignored.
void refuse_serving_flags(const Options& options, TrainingMethod method);
void refuse_training_offload(const Options& options);

}  // namespace gpuplan::cli
