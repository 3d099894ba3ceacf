#include "prediction.hpp"

#include "family.hpp"

#include <gpuplan/model/tensors.hpp>

#include <string>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

struct PredictionRow {
  std::string_view families;
  bool copies;  // the checkpoint holds the embedding and the head once more
};
constexpr PredictionRow kRows[] = {
    {"deepseek_v3 glm4_moe", true},
    {"glm_moe_dsa qwen3_next qwen3_5 mimo", false},
};

/// One layer of the kind that most layers are, with attention and, where there are experts, with them.
Architecture one_layer(const Architecture& decoder) {
  Architecture one = decoder;
  one.layers = 1;
  one.windowed_layers = 0;
  one.dense_layers = 0;
  one.mixers = {{1, decoder, std::nullopt}};
  one.mlps = {{1, decoder}};
  one.others.clear();
  return one;
}

}  // namespace

std::optional<NetworkPart> prediction_part(const Architecture& decoder, std::int64_t layers) {
  const PredictionRow* found = nullptr;
  for (const PredictionRow& row : kRows) found = has_word(row.families, decoder.family) ? &row : found;
  if (!found || layers < 1 || layers > 100) return std::nullopt;
  NetworkPart part = language_model_part(one_layer(decoder));
  part.name = "prediction";
  part.title = std::to_string(layers) + " layer(s) for multi-token prediction";
  if (found->copies) part.title += "; the checkpoint holds further copies of embedding and head";
  part.loaded = false;
  std::vector<TensorGroup> tensors;
  for (TensorGroup& tensor : part.tensors) {
    if (tensor.layers > 0) tensors.push_back(std::move(tensor));
  }
  const std::int64_t width = decoder.hidden;
  tensors.push_back({"layers.*.join", TensorRole::projection, Sharding::replicated, 1, width, 2 * width, 1});
  tensors.push_back({"layers.*.join_norm", TensorRole::norm, Sharding::replicated, 3, width, 1, 1});
  for (TensorGroup& tensor : tensors) {
    tensor.count *= layers;
    tensor.layers = layers;
  }
  for (PartAttention& attention : part.attention) attention.layers = layers;
  part.tensors = std::move(tensors);
  return part;
}

}  // namespace gpuplan
