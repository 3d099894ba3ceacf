// DeepSeek-V4: one key-value head for all queries, of which a window and compressed entries are kept; several streams
// instead of one residual; experts in four bits. Tensors: those of the published checkpoints.

#include "../encoders/encoder_blocks.hpp"
#include "../family.hpp"
#include "../part_builder.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

constexpr std::int64_t kMostWidth = 1000000;
constexpr std::int64_t kMostLayers = 10000;
constexpr std::int64_t kMostExperts = 100000;
constexpr std::int64_t kOverlapping = 4;  // at this ratio entries overlap, and an indexer picks among them

struct CompressedShape {
  std::int64_t hidden = 1;
  std::int64_t heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t q_rank = 1;
  std::int64_t output_groups = 1;
  std::int64_t output_rank = 1;
  std::int64_t index_heads = 1;
  std::int64_t index_dim = 1;
  std::int64_t selected = 1;  // compressed entries that the indexer picks
  std::int64_t window = 1;
  std::int64_t streams = 1;
};

CompressedShape read_compressed_shape(Fields& in) {
  CompressedShape s;
  s.hidden = bounded_count(in, "hidden_size", 0, kMostWidth);
  s.heads = bounded_count(in, "num_attention_heads", 0, kMostWidth);
  s.head_dim = bounded_count(in, "head_dim", 0, kMostWidth);
  s.q_rank = bounded_count(in, "q_lora_rank", 0, kMostWidth);
  s.output_groups = bounded_count(in, "o_groups", 0, kMostWidth);
  s.output_rank = bounded_count(in, "o_lora_rank", 0, kMostWidth);
  s.index_heads = bounded_count(in, "index_n_heads", 0, kMostWidth);
  s.index_dim = bounded_count(in, "index_head_dim", 0, kMostWidth);
  s.selected = in.count({"index_topk"});
  s.window = in.count({"sliding_window"});
  s.streams = bounded_count(in, "hc_mult", 0, 1000);
  if (in.sound() && s.heads * s.head_dim % s.output_groups != 0) {
    in.wrong("o_groups", std::to_string(s.output_groups) + " groups of " + std::to_string(s.heads * s.head_dim),
             "a divisor of the heads' width");
  }
  return s;
}

/// Each query head sees the same keys, which are the values as well; outputs go through a low rank group by group.
void add_shared_key_attention(PartBuilder& layer, const CompressedShape& s) {
  const LinearOptions o{.bias = false, .role = TensorRole::attention};
  const std::int64_t width = s.heads * s.head_dim;
  layer.linear("attention.q_a", s.q_rank, s.hidden, o);
  layer.norm("attention.q_a_norm", s.q_rank, 1, false);
  layer.linear("attention.q_b", width, s.q_rank, o);
  layer.linear("attention.kv", s.head_dim, s.hidden, o);
  layer.norm("attention.kv_norm", s.head_dim, 1, false);
  layer.vector("attention.sinks", TensorRole::sink, s.heads);
  layer.linear("attention.output_a", s.output_groups * s.output_rank, width / s.output_groups, o);
  layer.linear("attention.output_b", s.hidden, s.output_groups * s.output_rank, o);
  layer.attend_text(s.heads, s.head_dim, static_cast<double>(s.window));
}

/// Values and gates of `ratio` tokens become one entry; where entries overlap, each is made of two halves.
void add_compressor(PartBuilder& layer, std::string_view name, const CompressedShape& s, std::int64_t width,
                    std::int64_t ratio) {
  const std::string prefix(name);
  const std::int64_t wide = ratio == kOverlapping ? 2 * width : width;
  layer.table(prefix + ".position", ratio, wide, TensorRole::position);
  layer.linear(prefix + ".value_gate", wide, s.hidden, {.count = 2, .bias = false, .role = TensorRole::attention});
  layer.norm(prefix + ".norm", width, 1, false);
}

/// Scores alone, without sums over values: half the work of attention, over one entry in `ratio` tokens.
void add_entry_indexer(PartBuilder& layer, const CompressedShape& s, std::int64_t ratio) {
  add_compressor(layer, "indexer.compressor", s, s.index_dim, ratio);
  layer.linear("indexer.weights", s.index_heads, s.hidden, {.bias = false, .role = TensorRole::router});
  layer.linear("indexer.q", s.index_heads * s.index_dim, s.q_rank, {.bias = false, .role = TensorRole::attention});
  layer.attend(s.index_heads, s.index_dim, 0.5 / static_cast<double>(ratio), 0);
}

/// A layer's own mixing of the streams, before attention and before the experts; kept in 32 bit.
void add_stream_mixing(PartBuilder& layer, const CompressedShape& s) {
  const std::int64_t mixes = (2 + s.streams) * s.streams;
  layer.add({"streams.mix", TensorRole::projection, Sharding::replicated, 2, mixes, s.streams * s.hidden, 0, 1, true});
  layer.vector("streams.base", TensorRole::state, mixes, 2);
  layer.vector("streams.scale", TensorRole::state, 3, 2);
}

void add_compressed_layers(PartBuilder& part, const CompressedShape& s, std::int64_t layers, std::int64_t ratio) {
  part.layers(layers, [&](PartBuilder& layer) {
    layer.norm("norm", s.hidden, 2, false);
    add_shared_key_attention(layer, s);
    add_stream_mixing(layer, s);
    if (ratio == 0) return;
    add_compressor(layer, "compressor", s, s.head_dim, ratio);
    if (ratio == kOverlapping) add_entry_indexer(layer, s, ratio);
    // One entry stands for `ratio` tokens, so that a query meets that share of the text.
    layer.attend(s.heads, s.head_dim, 1 / static_cast<double>(ratio), 0);
    const bool picks = ratio == kOverlapping;
    layer.part().attention.back().window = picks ? static_cast<double>(s.selected) * static_cast<double>(ratio) : 0;
  });
}

struct RoutedShape {
  std::int64_t experts = 1;
  std::int64_t chosen = 1;
  std::int64_t shared = 0;
  std::int64_t width = 1;
  std::int64_t looked_up = 0;  // the first layers look the experts of a token up
};

RoutedShape read_routed_shape(Fields& in, std::int64_t layers) {
  RoutedShape r;
  r.experts = bounded_count(in, "n_routed_experts", 0, kMostExperts);
  r.chosen = bounded_count(in, "num_experts_per_tok", 0, kMostExperts);
  r.shared = std::min(in.amount_or({"n_shared_experts"}, 0), kMostExperts);
  r.width = bounded_count(in, "moe_intermediate_size", 0, kMostWidth);
  r.looked_up = std::min(in.amount_or({"num_hash_layers"}, 0), layers);
  if (r.chosen > r.experts) {
    in.wrong("num_experts_per_tok", std::to_string(r.chosen) + " of " + std::to_string(r.experts) + " experts a token",
             "at most as many as there are");
  }
  return r;
}

/// Gate, up and down of `count` experts.
void add_gated_experts(PartBuilder& layer, std::string_view name, TensorRole role, std::int64_t count,
                       std::int64_t hidden, std::int64_t width, double uses) {
  const std::string prefix(name);
  layer.add({prefix + ".gate_up", role, Sharding::column, 2 * count, width, hidden, 0, uses});
  layer.add({prefix + ".down", role, Sharding::row, count, hidden, width, 0, uses});
}

void add_routers(PartBuilder& part, const RoutedShape& r, std::int64_t layers, std::int64_t hidden,
                 std::int64_t vocab) {
  part.layers(layers, [&](PartBuilder& layer) {
    layer.linear("router", r.experts, hidden, {.bias = false, .role = TensorRole::router});
    add_gated_experts(layer, "shared_experts", TensorRole::shared_expert, r.shared, hidden, r.width, 1);
  });
  part.layers(r.looked_up, [&](PartBuilder& layer) { layer.table("router_table", vocab, r.chosen); });
  part.layers(layers - r.looked_up,
              [&](PartBuilder& layer) { layer.vector("router_bias", TensorRole::router, r.experts); });
}

void add_stream_head(PartBuilder& part, const CompressedShape& s, std::int64_t vocab) {
  part.add(
      {"streams.mix", TensorRole::projection, Sharding::replicated, 1, s.streams, s.streams * s.hidden, 0, 1, true});
  part.vector("streams.base", TensorRole::state, s.streams);
  part.vector("streams.scale", TensorRole::state, 1);
  part.norm("final_norm", s.hidden, 1, false);
  part.linear("head", vocab, s.hidden, {.bias = false, .role = TensorRole::head});
}

void note_left_out(Fields& in) {
  in.not_modelled("its compressed cache, so it cannot be served");
  const std::int64_t predictors = in.amount_or({"num_nextn_predict_layers"}, 0);
  if (predictors > 0) in.not_modelled("multi-token prediction, " + std::to_string(predictors) + " layer(s)");
}

}  // namespace

/// `compress_ratios` says of each layer how many tokens an entry stands for (0: there is only the window); what follows
/// the layers is of those for speculation.
void read_deepseek_v4(Fields& in, Network& out) {
  const CompressedShape s = read_compressed_shape(in);
  const std::int64_t layers = bounded_count(in, "num_hidden_layers", 0, kMostLayers);
  const std::int64_t vocab = in.count({"vocab_size"});
  const RoutedShape routed = read_routed_shape(in, layers);
  const std::vector<std::int64_t> ratios = in.amounts("compress_ratios");
  if (!in.sound()) return;
  if (ratios.size() < static_cast<std::size_t>(layers)) {
    return in.wrong("compress_ratios", "'compress_ratios' has " + std::to_string(ratios.size()) + " entries",
                    "one entry a layer");
  }
  std::map<std::int64_t, std::int64_t> layers_of;  // by ratio
  for (std::int64_t i = 0; i < layers; ++i) ++layers_of[ratios[static_cast<std::size_t>(i)]];
  PartBuilder part("language_model", shape_title("decoder with compressed keys", layers, s.hidden), "token");
  part.table("embedding", vocab, s.hidden);
  for (const auto& [ratio, count] : layers_of) add_compressed_layers(part, s, count, ratio);
  add_routers(part, routed, layers, s.hidden, vocab);
  add_stream_head(part, s, vocab);
  out.parts.push_back(part.take());

  PartBuilder experts("experts", std::to_string(routed.experts) + " routed experts a layer", "token");
  experts.layers(layers, [&](PartBuilder& layer) {
    const double share = static_cast<double>(routed.chosen) / static_cast<double>(routed.experts);
    add_gated_experts(layer, "experts.*", TensorRole::expert, routed.experts, s.hidden, routed.width, share);
  });
  if (in.text({"expert_dtype"}) == "fp4") experts.part().format = "mxfp4";
  out.parts.push_back(experts.take());
  note_left_out(in);
}

}  // namespace gpuplan
