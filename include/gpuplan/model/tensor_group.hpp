#pragma once
/// Equal tensors of a network: what it stores, how tensor parallelism splits it, and how often an item goes through it.

#include <cstdint>
#include <string>
#include <string_view>

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
  shared_expert,
  recurrence,   ///< projections of a mixer with a state
  state,        ///< what such a mixer keeps besides: decay, skip, step, short convolutions
  convolution,  ///< a kernel; rows are outputs, columns inputs per group times kernel positions
  projection    ///< other matrices: conditioning, projectors, dense layers
};
std::string_view to_string(TensorRole value);

/// How tensor parallelism splits a tensor: over the ranks by output (column) or input (row), by vocabulary, by KV head (at
/// least one a rank), by expert, or not at all.
enum class Sharding : std::uint8_t { replicated, column, row, vocabulary, kv_head };

struct TensorGroup {
  std::string name;  ///< `layers.*.attention.q`
  TensorRole role = TensorRole::norm;
  Sharding sharding = Sharding::replicated;
  std::int64_t count = 1;        ///< equal tensors, over all layers (and experts)
  std::int64_t rows = 1;         ///< outputs
  std::int64_t columns = 1;      ///< inputs; 1 for a vector
  std::int64_t layers = 0;       ///< how many layers have such a tensor; 0 when it stands outside the layers
  double uses = 1;               ///< how often one item goes through each: positions of an image; 0: a look-up
  bool keeps_precision = false;  ///< quantizers leave it alone, whatever its role
  std::int64_t kernel = 1;       ///< positions of a convolution's kernel, which `columns` hold for each input
  double look_ups = 1;           ///< rows of a table that one item reads (those of a multi-hot feature)

  [[nodiscard]] bool is_linear() const {  ///< what a scheme quantizes
    if (keeps_precision || columns == 1) return false;
    return role == TensorRole::attention || role == TensorRole::mlp || role == TensorRole::expert ||
           role == TensorRole::shared_expert || role == TensorRole::recurrence || role == TensorRole::projection;
  }
  /// A matrix or kernel that items are multiplied with.
  [[nodiscard]] bool multiplies() const {
    return columns > 1 && role != TensorRole::embedding && role != TensorRole::position && role != TensorRole::norm &&
           role != TensorRole::state;
  }
  [[nodiscard]] std::int64_t elements() const { return count * rows * columns; }
};

}  // namespace gpuplan
