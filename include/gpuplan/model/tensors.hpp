#pragma once
/// The exact tensor list of an architecture, as groups of equal tensors.
///
///     const std::vector<TensorGroup> list = tensors_of(architecture);
///     parameters(list) == 70553706496      // Llama 3.1 70B

#include <gpuplan/base/explain.hpp>
#include <gpuplan/model/architecture.hpp>
#include <gpuplan/model/scheme.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

std::vector<TensorGroup> tensors_of(const Architecture& architecture);

std::int64_t parameters(std::span<const TensorGroup> tensors);

/// Parameters that one token passes through: of the experts only those it is routed to. The input embedding is a table
/// look-up and counts, as model cards count it.
std::int64_t active_parameters(const Architecture& architecture);

/// Which storage a scheme gives a tensor.
const Storage& storage_of(const TensorGroup& tensor, const Scheme& scheme);
/// The same by the name of a group; `otherwise` when the scheme makes no exception of it.
const Storage& storage_of(std::string_view name, const Storage& otherwise, const Scheme& scheme);

/// Bytes of all tensors, unsharded.
Bytes weights_bytes(std::span<const TensorGroup> tensors, const Scheme& scheme);

/// Share of a tensor that one of `tensor_parallel` ranks holds (KV heads are replicated when they are fewer than ranks).
double shard_share(const TensorGroup& tensor, const Architecture& architecture, std::int64_t tensor_parallel);

}  // namespace gpuplan
