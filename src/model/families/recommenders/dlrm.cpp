/// Recommenders over tables of embeddings: what is known of a user and an item is looked up, crossed with the dense
/// features and scored. Shapes: torchrec's DLRM, DLRM_DCN and LowRankCrossNet; keys: the arguments of their reference
/// training script.

#include "../family.hpp"
#include "../part_builder.hpp"

#include <string>
#include <vector>

namespace gpuplan {
namespace {

constexpr std::size_t kMostTables = 10000;
constexpr std::size_t kMostLayers = 1000;

struct Recommender {
  std::vector<std::int64_t> rows;  // of the tables, one a feature
  std::int64_t width = 0;          // of an embedding
  std::int64_t dense_features = 13;
  std::vector<std::int64_t> dense_layers;
  std::vector<std::int64_t> over_layers;

  [[nodiscard]] std::int64_t features() const { return static_cast<std::int64_t>(rows.size()); }
};

/// A list whose sizes are at least 1.
std::vector<std::int64_t> sizes_of(Fields& in, std::string_view key, std::size_t most) {
  std::vector<std::int64_t> sizes = in.amounts(key);
  if (!in.has({key})) in.missing(key);
  bool good = sizes.size() <= most;
  for (const std::int64_t size : sizes) good = good && size >= 1;
  if (good) return sizes;
  in.wrong(key, "'" + std::string(key) + "' cannot be", "at most " + std::to_string(most) + " sizes of at least 1");
  return {};
}

NetworkPart embedding_tables(Fields& in, const Recommender& r) {
  std::vector<std::int64_t> hot = in.amounts("multi_hot_sizes");
  if (hot.size() != r.rows.size()) {
    if (!hot.empty())
      in.wrong("multi_hot_sizes", "'multi_hot_sizes' does not fit the tables", std::to_string(r.features()) + " sizes");
    hot.assign(r.rows.size(), 1);
  }
  std::int64_t look_ups = 0;
  for (const std::int64_t n : hot) look_ups += n;
  PartBuilder part("embedding_tables",
                   std::to_string(r.features()) + " tables, width " + std::to_string(r.width) + ", " +
                       std::to_string(look_ups) + " look-ups",
                   "sample");
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    TensorGroup table{"table" + std::to_string(i), TensorRole::embedding, Sharding::vocabulary, 1, r.rows[i], r.width};
    table.uses = 0;
    table.look_ups = static_cast<double>(hot[i]);
    part.add(std::move(table));
  }
  return part.take();
}

std::int64_t add_layers(PartBuilder& part, const std::string& name, std::int64_t inputs,
                        const std::vector<std::int64_t>& outputs) {
  for (const std::int64_t size : outputs) {
    part.linear(name, size, inputs, {.role = TensorRole::mlp});
    inputs = size;
  }
  return inputs;
}

/// Everything beside everything, crossed by products of two narrow matrices: what the upper layers see.
std::int64_t add_cross(PartBuilder& part, Fields& in, const Recommender& r) {
  const std::int64_t inputs = (r.features() + 1) * r.width;
  const std::int64_t rank = in.count({"dcn_low_rank_dim"});
  part.layers(
      in.count({"dcn_num_layers"}),
      [&](PartBuilder& layer) {
        layer.linear("v", rank, inputs, {.bias = false});
        layer.linear("w", inputs, rank);
      },
      "cross");
  return inputs;
}

/// What the upper layers see of the features.
std::int64_t add_interaction(PartBuilder& part, Fields& in, const Recommender& r) {
  const std::vector<std::string> classes = in.texts("architectures");
  std::string kind = in.text({"interaction", "interaction_type"});
  if (kind.empty()) kind = !classes.empty() && classes.front() == "DLRM_DCN" ? "dcn" : "dot";
  const std::int64_t features = r.features();
  if (kind == "dcn") return add_cross(part, in, r);
  if (kind == "cat" || kind == "original_cat") return (features + 1) * r.width;
  if (kind != "dot" && kind != "original") in.unreadable("a recommender with interaction '" + kind + "'");
  return r.width + features * (features - 1) / 2 + features;  // every pair once, dense features among them
}

}  // namespace

void read_dlrm(Fields& in, Network& out) {
  Recommender r;
  r.width = in.count({"embedding_dim"});
  r.rows = sizes_of(in, "num_embeddings_per_feature", kMostTables);
  r.dense_features = in.count_or({"dense_in_features", "num_dense_features"}, r.dense_features);
  r.dense_layers = sizes_of(in, "dense_arch_layer_sizes", kMostLayers);
  r.over_layers = sizes_of(in, "over_arch_layer_sizes", kMostLayers);
  if (!in.sound()) return;
  out.parts.push_back(embedding_tables(in, r));
  PartBuilder part("dense", "dense layers over " + std::to_string(r.dense_features) + " features", "sample");
  if (add_layers(part, "dense", r.dense_features, r.dense_layers) != r.width)
    in.unreadable("a recommender whose dense features are not as wide as its embeddings");
  add_layers(part, "over", add_interaction(part, in, r), r.over_layers);
  out.parts.push_back(part.take());
}

}  // namespace gpuplan
