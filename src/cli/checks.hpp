#pragma once
// Flags that contradict each other or the model, refused before anything is planned.

#include "options.hpp"

namespace gpuplan::cli {

/// @param by_parts  the network does not generate token by token: two of the flags mean something there, too
void refuse_training_flags(const Options& options, bool by_parts = false);
/// @param training  such a job may say how many tokens it trains on
void refuse_parts_flags(const Options& options, bool training = false);
/// Of flags about serving a language model: host memory, neighbours, the load.
void refuse_residency_flags(const Options& options);
/// What describes requests means nothing to a training job, and what no search over layouts reads is not ignored.
void refuse_serving_flags(const Options& options, TrainingMethod method);
void refuse_training_offload(const Options& options);

}  // namespace gpuplan::cli
