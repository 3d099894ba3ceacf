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
#include <vector>

namespace gpuplan {

enum class TensorRole : std::uint8_t {
  embedding,
  head,
  position,
  norm,
  bias,
  sink,
  router,
  attention,
  mlp,
  expert,
  shared_expert
};
std::string_view to_string(TensorRole value);

/// How tensor parallelism splits a tensor: over the ranks by output (column) or input (row), by vocabulary, by KV head (at
/// least one a rank), by expert, or not at all.
enum class Sharding : std::uint8_t { replicated, column, row, vocabulary, kv_head };

struct TensorGroup {
  std::string name;  ///< `layers.*.attention.q`
  TensorRole role = TensorRole::norm;
  Sharding sharding = Sharding::replicated;
  std::int64_t count = 1;                 ///< equal tensors, over all layers (and experts)
  std::int64_t rows = 1;                  ///< outputs
  std::int64_t columns = 1;               ///< inputs; 1 for a vector
  std::int64_t layers = 0;                ///< how many layers have such a tensor; 0 when it stands outside the layers
  [[nodiscard]] bool is_linear() const {  ///< what a scheme quantizes
    return role == TensorRole::attention || role == TensorRole::mlp || role == TensorRole::expert ||
           role == TensorRole::shared_expert;
  }
  [[nodiscard]] std::int64_t elements() const { return count * rows * columns; }
};

std::vector<TensorGroup> tensors_of(const Architecture& architecture);

std::int64_t parameters(std::span<const TensorGroup> tensors);

/// Parameters that one token passes through: of the experts only those it is routed to. The input embedding is a table
/// look-up and counts, as model cards count it.
std::int64_t active_parameters(const Architecture& architecture);

/// Which storage a scheme gives a tensor.
const Storage& storage_of(const TensorGroup& tensor, const Scheme& scheme);

/// Bytes of all tensors, unsharded.
Bytes weights_bytes(std::span<const TensorGroup> tensors, const Scheme& scheme);

/// Share of a tensor that one of `tensor_parallel` ranks holds (KV heads are replicated when they are fewer than ranks).
double shard_share(const TensorGroup& tensor, const Architecture& architecture, std::int64_t tensor_parallel);

}  // namespace gpuplan
