#pragma once
/// Layers for speculation that come on top of those counted (multi-token prediction).

#include <gpuplan/model/network.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuplan {

/// `layers` further decoder layers, each with a matrix that joins the embedding of the next token to the last hidden state, norms
/// of both, and one at the end: DeepSeek-V3 (arXiv:2412.19437, section 2.2) and those that publish theirs in the same form.
/// Nothing for families that do not.
std::optional<NetworkPart> prediction_part(const Architecture& decoder, std::int64_t layers);

}  // namespace gpuplan
