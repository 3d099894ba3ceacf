#include "part_activations.hpp"

#include <algorithm>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

// Equal products side by side, whose results are there together: queries, keys and values, the chosen experts.
double side_by_side(const TensorGroup& tensor) {
  const bool together = tensor.role == TensorRole::attention || tensor.role == TensorRole::expert ||
                        tensor.role == TensorRole::shared_expert;
  return together ? as_double(tensor.count) / as_double(std::max<std::int64_t>(1, tensor.layers)) : 1;
}

Bytes held(const PartPeak& peak, const Runtime& runtime) {
  const double elements = runtime.map_copies.or_else(1) * peak.maps + runtime.layout_copies.or_else(0) * peak.layouts +
                          runtime.score_copies.or_else(1) * peak.scores;
  return peak.items * elements * peak.element;
}

}  // namespace

void add_activations(PartFootprint& into, const NetworkPart& part, const PartScale& scale, const Runtime& runtime,
                     bool stores_scores, Bytes element) {
  const PartPositions positions(part, scale);
  const bool narrow = element < bytes(4);
  const auto consider = [&](PartPeak peak) {
    peak.items = scale.items;
    peak.element = element;
    const Bytes all = held(peak, runtime);
    if (all <= into.activations) return;
    into.activations = all;
    into.peak = std::move(peak);
  };
  for (const TensorGroup& tensor : part.tensors) {
    if (!tensor.multiplies() || tensor.uses <= 0) continue;
    const bool convolves = tensor.role == TensorRole::convolution;
    const double n = positions.of(tensor.role == TensorRole::expert ? 1 : tensor.uses);
    const double share = tensor.role == TensorRole::expert ? tensor.uses : 1;
    const double input = n * as_double(tensor.columns) / as_double(std::max<std::int64_t>(1, tensor.kernel));
    const double output = n * as_double(tensor.rows) * share * side_by_side(tensor);
    if (convolves) into.largest_map = std::max(into.largest_map, scale.items * std::max(input, output));
    consider({tensor.name, 0, 2 * input + output, convolves && narrow ? input + output : 0, 0, {}});
  }
  for (const PartAttention& a : part.attention) {
    const double queries = positions.of(a.queries);
    const double keys = positions.keys_of(a);
    const double width = as_double(a.heads) * as_double(a.head_dim);
    // Residual and its norm, queries and result; keys and values.
    consider({"attention",
              0,
              4 * queries * width + 2 * std::min(keys, queries) * width,
              0,
              stores_scores ? as_double(a.heads) * queries * keys : 0,
              {}});
  }
}

}  // namespace gpuplan
