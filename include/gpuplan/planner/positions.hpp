#pragma once
/// Whether a sequence is longer than the positions a model was made for.
///
/// Rotary positions can be stretched, which engines want to be told to do and which costs quality; a table of learned positions has no
/// row for the next one, so that no program runs it.

#include <gpuplan/base/error.hpp>
#include <gpuplan/model/architecture.hpp>
#include <gpuplan/planner/model_resolution.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuplan {

/// What is to be told of a sequence of so many tokens, if anything. Throws InputError where positions are learned.
/// @param flag  that asked for it: `--seq`
std::optional<Warning> beyond_positions(const Architecture& architecture, std::int64_t tokens, std::string_view flag);

}  // namespace gpuplan
