#include "../family.hpp"
#include "common.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

/// Rows of the input table beyond the vocabulary, for the token that stands for an image.
constexpr std::int64_t kImageRows = 8;

TensorGroup in_layers(std::string name, TensorRole role, Sharding sharding, std::int64_t layers, std::int64_t rows,
                      std::int64_t columns, double uses) {
  return {"layers.*." + std::move(name), role, sharding, layers, rows, columns, layers, uses};
}

}  // namespace

/// Llama 3.2 Vision: some layers attend to the image instead of the text. Their keys and values are made once an image.
void read_mllama(Fields& in, Architecture& a) {
  read_gated_decoder(in, a, 8);
  const std::vector<std::int64_t> listed = in.amounts("cross_attention_layers");
  if (!in.sound()) return;
  const auto layers = std::min(static_cast<std::int64_t>(listed.size()), a.layers);
  if (layers == 0) return;
  a.mixers.push_back({a.layers - layers, a, std::nullopt});
  const auto add = [&](TensorGroup group) { a.others.push_back(std::move(group)); };
  const std::int64_t q = a.heads * a.head_dim;
  const std::int64_t kv = a.kv_heads * a.head_dim;
  const TensorRole role = TensorRole::attention;
  add(in_layers("cross_attention.q", role, Sharding::column, layers, q, a.hidden, 1));
  add(in_layers("cross_attention.k", role, Sharding::kv_head, layers, kv, a.hidden, 0));
  add(in_layers("cross_attention.v", role, Sharding::kv_head, layers, kv, a.hidden, 0));
  add(in_layers("cross_attention.output", role, Sharding::row, layers, a.hidden, q, 1));
  add(in_layers("cross_attention.q_norm", TensorRole::norm, Sharding::replicated, layers, a.head_dim, 1, 0));
  add(in_layers("cross_attention.k_norm", TensorRole::norm, Sharding::replicated, layers, a.head_dim, 1, 0));
  add(in_layers("cross_attention.gates", TensorRole::state, Sharding::replicated, layers, 2, 1, 0));
  add({"embedding.image", TensorRole::embedding, Sharding::vocabulary, 1, kImageRows, a.hidden, 0, 0});
  in.not_modelled("the cache of image tokens that " + std::to_string(layers) + " layers attend to");
}

}  // namespace gpuplan
