#include <gpuplan/model/operators.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/tensors.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

/// Everything the operators share: sizes as doubles, the share of one rank, widths and arithmetics.
struct Step {
  const Architecture& a;
  const Scheme& scheme;
  const KvFormat& kv;
  StepShape shape;
  std::int64_t ranks;

  [[nodiscard]] double tokens() const { return shape.sequences * shape.new_tokens; }
  [[nodiscard]] double hidden() const { return static_cast<double>(a.hidden); }
  [[nodiscard]] double share() const { return 1.0 / static_cast<double>(ranks); }
  /// Activations are in 16 bit unless the weights are in 32.
  [[nodiscard]] Bytes activation() const { return bytes(scheme.linear.bits > 16 ? 4 : 2); }
  /// The arithmetic of what a scheme leaves alone: attention, router, head.
  [[nodiscard]] Arithmetic plain() const {
    const bool full_or_half = scheme.arithmetic == Arithmetic::fp32 || scheme.arithmetic == Arithmetic::tf32 ||
                              scheme.arithmetic == Arithmetic::fp16;
    return full_or_half ? scheme.arithmetic : Arithmetic::bf16;
  }
};

/// The same for layers with one kind of attention.
struct AttentionStep : Step {
  const Attention& t;
  double layers = 0;

  [[nodiscard]] double heads() const { return static_cast<double>(t.heads) * share(); }
  [[nodiscard]] double kv_heads() const {  // of the fullest rank, at least one
    return std::ceil(static_cast<double>(t.kv_heads) * share());
  }
  [[nodiscard]] double qk_dim() const { return static_cast<double>(t.qk_dim()); }
  [[nodiscard]] double value_dim() const { return static_cast<double>(t.value_dim()); }
  [[nodiscard]] double rank() const { return static_cast<double>(t.kv_lora_rank); }
  [[nodiscard]] double rope() const { return static_cast<double>(t.qk_rope_head_dim); }
  [[nodiscard]] bool absorbed() const { return t.has_latent_attention() && shape.phase == Phase::decode; }
};

/// A matrix product on this rank. `in` and `out` are of the unsharded matrix of `matrices` equal parts.
struct Product {
  std::string_view id;
  double count = 0;
  double rows = 0;        ///< tokens
  double in = 0;          ///< inputs on this rank
  double out = 0;         ///< outputs on this rank
  Bytes weights;          ///< on this rank
  bool quantized = true;  ///< whether the scheme's linear storage and arithmetic apply
  double kernels = 1;
};

class OperatorList {
 public:
  explicit OperatorList(const Step& step) : step_(step) { list_.reserve(24); }

  void gemm(const Product& p) {
    if (p.count <= 0 || p.rows <= 0) return;
    Operator op;
    op.id = p.id;
    op.arithmetic = p.quantized ? step_.scheme.arithmetic : step_.plain();
    op.weight_only = p.quantized && step_.scheme.weight_only;
    op.count = p.count;
    op.flops = flop(2 * p.rows * p.in * p.out);
    op.bytes = p.weights + p.rows * (p.in + p.out) * step_.activation();
    op.weights = p.weights;
    op.kernels = p.kernels;
    op.rows = p.rows;
    op.columns = p.out;
    list_.push_back(op);
  }
  /// Several products of one input at once: `p.out` counts their elements, `width` their inputs and outputs.
  void projection(const Product& p, double width) {
    gemm(p);
    if (p.count <= 0 || p.rows <= 0) return;
    list_.back().bytes = p.weights + p.rows * width * step_.activation();
    list_.back().columns = 0;  // of several shapes
  }
  /// What only moves `elements` activations (and `more` bytes) through memory.
  void memory(std::string_view id, double count, double elements, Bytes more = {}, double kernels = 1) {
    if (count <= 0 || elements <= 0) return;
    Operator op;
    op.id = id;
    op.kind = OperatorKind::memory;
    op.arithmetic = step_.plain();
    op.count = count;
    op.bytes = elements * step_.activation() + more;
    op.kernels = kernels;
    list_.push_back(op);
  }
  void add(const Operator& op) {
    if (op.count > 0) list_.push_back(op);
  }
  std::vector<Operator> take() { return std::move(list_); }

 private:
  const Step& step_;
  std::vector<Operator> list_;
};

/// Storage of linears that are no experts, and whether it is quantized.
/// @param group  in the tensor list; empty: as most
const Storage& linear_storage(const Step& s, std::string_view group = {}) {
  return storage_of(group, s.scheme.linear, s.scheme);
}
bool quantizes_linears(const Step& s, std::string_view group = {}) { return linear_storage(s, group).is_quantized(); }

Bytes linear_weights(const Step& s, double out, double in, std::string_view group = {}) {
  return stored_bytes(linear_storage(s, group), out, in);
}
/// A matrix of a layer that the tensor list has without the layer.
const Storage& layer_storage(const Step& s, const TensorGroup& tensor) {
  const Storage& otherwise = storage_of(tensor, s.scheme);
  if (s.scheme.groups.empty()) return otherwise;
  return storage_of("layers.*." + tensor.name, otherwise, s.scheme);
}
Bytes rest_weights(const Step& s, double out, double in) { return stored_bytes(s.scheme.rest, out, in); }

void add_embedding(const Step& s, OperatorList& out) {
  const double elements = 2 * s.tokens() * s.hidden();  // rows read, hidden states written
  out.memory("embedding", 1, elements);
  if (s.a.embedding_norm) out.memory("embedding_norm", 1, elements);
  if (s.a.learned_positions) out.memory("positions", 1, 1.5 * elements);
}

/// Residual addition and norm in one pass: both read, both written.
void add_norms(const Step& s, OperatorList& out) {
  const double weights = s.a.norm == NormKind::layer ? 2 * s.hidden() : s.hidden();
  const Bytes weight_bytes = rest_weights(s, weights, 1);
  double count = as_double(s.a.layers * s.a.norms_per_layer);
  for (const TensorGroup& other : s.a.others) {  // those that not every layer has
    if (other.role == TensorRole::norm && other.layers > 0 && other.rows == s.a.hidden) count += as_double(other.count);
  }
  out.memory("norm", count, 4 * s.tokens() * s.hidden(), weight_bytes);
}

/// Queries, keys and values may be stored in different ways.
Bytes qkv_weights(const Step& s, double queries, double keys, double values) {
  if (s.scheme.groups.empty()) return linear_weights(s, queries + keys + values, s.hidden());
  return linear_weights(s, queries, s.hidden(), "layers.*.attention.q") +
         linear_weights(s, keys, s.hidden(), "layers.*.attention.k") +
         linear_weights(s, values, s.hidden(), "layers.*.attention.v");
}

void add_grouped_projection(const AttentionStep& s, OperatorList& out) {
  const double gate = (s.t.output_gate ? s.heads() * s.value_dim() : 0) + (s.t.head_gate ? s.heads() : 0);
  const double keys = s.t.shares_cache ? 0 : s.kv_heads() * s.qk_dim();
  const double values = s.t.shares_cache || s.t.value_is_key ? 0 : s.kv_heads() * s.value_dim();
  const double width = s.heads() * s.qk_dim() + gate + keys + values;
  Product p{.id = "attention.qkv", .count = s.layers, .rows = s.tokens(), .in = s.hidden(), .out = width};
  p.weights = qkv_weights(s, width - keys - values, keys, values);
  if (s.t.qkv_bias) p.weights += rest_weights(s, width, 1);
  p.quantized = quantizes_linears(s, "layers.*.attention.q");
  out.gemm(p);
  if (s.t.qk_norm != QkNorm::none) {
    out.memory("attention.qk_norm", s.layers, 2 * s.tokens() * (s.heads() + s.kv_heads()) * s.qk_dim());
  }
}

// Down to the latents, which every rank computes whole, and up again for the heads of this rank. In decode the
// up-projection of the keys is applied to the queries and that of the values to the outputs (absorbed), so the latents
// of the context are never expanded; a prefill expands those of its whole context.
void add_latent_projection(const AttentionStep& s, OperatorList& out) {
  const double q_width = s.heads() * s.qk_dim();
  const double q_rank = static_cast<double>(s.t.q_lora_rank);
  const double gate = s.t.output_gate ? s.heads() * s.value_dim() : 0;
  const double direct = (q_rank > 0 ? 0 : q_width) + gate;
  const double down = q_rank + s.rank() + s.rope();
  Product p{.id = "attention.qkv_a", .count = s.layers, .rows = s.tokens(), .in = s.hidden(), .out = down + direct};
  p.weights = linear_weights(s, down + direct, s.hidden(), "layers.*.attention.kv_a");
  p.quantized = quantizes_linears(s, "layers.*.attention.kv_a");
  out.gemm(p);
  out.memory("attention.latent_norm", s.layers, 2 * s.tokens() * (q_rank + s.rank()));
  if (q_rank > 0) {
    p.id = "attention.q_b";
    p.in = q_rank;
    p.out = q_width;
    p.weights = linear_weights(s, q_width, q_rank, "layers.*.attention.q_b");
    p.quantized = quantizes_linears(s, "layers.*.attention.q_b");
    out.gemm(p);
  }
  p.id = "attention.kv_b";
  p.rows = s.absorbed() ? s.tokens() : s.shape.sequences * (s.shape.context_tokens + s.shape.new_tokens);
  p.in = s.rank();
  p.out = s.heads() * (static_cast<double>(s.t.qk_nope_head_dim) + s.value_dim());
  p.weights = linear_weights(s, p.out, p.in, "layers.*.attention.kv_b");
  p.quantized = quantizes_linears(s, "layers.*.attention.kv_b");
  p.kernels = s.absorbed() ? 2 : 1;
  out.gemm(p);
}

/// Queries and keys turned in place, keys and values put into the cache.
void add_rotary(const AttentionStep& s, OperatorList& out) {
  const double turned =
      s.t.has_latent_attention() ? (s.heads() + 1) * s.rope() : (s.heads() + s.kv_heads()) * s.qk_dim();
  if (!s.a.learned_positions) out.memory("attention.rotary", s.layers, 2 * s.tokens() * turned);
  const double cached = s.tokens() * kv_elements_per_layer_token(s.t, s.ranks);
  out.memory("attention.cache_write", s.layers, cached, cached * s.kv.element);
}

/// Query-key pairs of one sequence: a new token sees the context, new tokens before it and itself, `window` at most.
double attended_pairs(double context, double fresh, double window) {
  const double growing = std::clamp(window - context, 0.0, fresh);  // new tokens whose view is not yet cut
  return growing * context + growing * (growing + 1) / 2 + (fresh - growing) * window;
}

/// What attention reads of a token: its keys and values, whichever layer cached them, and not the indexer's key.
double attended_elements(const AttentionStep& s) {
  Attention read = s.t;
  read.shares_cache = false;
  read.index_heads = 0;
  return kv_elements_per_layer_token(read, s.ranks);
}

void add_attention_core(const AttentionStep& s, OperatorList& out, std::string_view id, double count, double window) {
  const double fresh = s.shape.new_tokens;
  const double context = s.shape.context_tokens;
  const double pairs = s.shape.sequences * attended_pairs(context, fresh, window);
  const double read_tokens = s.shape.sequences * std::min(context + fresh, window + fresh - 1);
  Operator op;
  op.id = id;
  op.kind = OperatorKind::attention;
  op.arithmetic = s.plain();
  op.count = count;
  if (s.absorbed()) {  // scores against latent and rotary part, values are the latent
    op.flops = flop(2 * s.heads() * (2 * s.rank() + s.rope()) * pairs);
    op.bytes = read_tokens * (s.rank() + s.rope()) * s.kv.element +
               s.tokens() * s.heads() * (2 * s.rank() + s.rope()) * s.activation();
  } else {
    op.flops = flop(2 * s.heads() * (s.qk_dim() + s.value_dim()) * pairs);
    op.bytes = s.tokens() * s.heads() * (s.qk_dim() + s.value_dim()) * s.activation();
    op.bytes += s.t.has_latent_attention()  // expanded for this prefill, in 16 bit
                    ? read_tokens * s.heads() * (s.qk_dim() + s.value_dim()) * s.activation()
                    : read_tokens * attended_elements(s) * s.kv.element;
  }
  out.add(op);
}

/// The indexer of sparse attention scores every token of the context for every new one; its keys lie in the cache.
void add_indexer(const AttentionStep& s, OperatorList& out) {
  if (s.t.index_heads == 0) return;
  const double heads = static_cast<double>(s.t.index_heads);
  const double width = static_cast<double>(s.t.index_dim);
  const double from = s.t.q_lora_rank > 0 ? static_cast<double>(s.t.q_lora_rank) : s.hidden();
  const double weighed = s.t.index_weights ? heads : 0;
  Product p{.id = "indexer.projection", .count = s.layers, .rows = s.tokens(), .in = 1};
  p.out = heads * width * from + (width + weighed) * s.hidden();  // the products' elements together
  p.weights = linear_weights(s, heads * width, from, "layers.*.indexer.q") +
              linear_weights(s, width, s.hidden(), "layers.*.indexer.k");
  p.weights += rest_weights(s, weighed, s.hidden());
  p.quantized = quantizes_linears(s, "layers.*.indexer.q");
  p.kernels = 3;
  out.projection(p, from + heads * width + s.hidden() + width + weighed);
  const double everything = s.shape.context_tokens + s.shape.new_tokens;
  Operator op;
  op.id = "indexer.scores";
  op.kind = OperatorKind::attention;
  op.arithmetic = s.plain();
  op.count = s.layers;
  op.flops = flop(2 * heads * width * s.shape.sequences *
                  attended_pairs(s.shape.context_tokens, s.shape.new_tokens, everything));
  op.bytes = s.shape.sequences * everything * width * s.kv.element;
  op.kernels = 2;  // scores, and the choice
  out.add(op);
}

/// What every layer with this attention does but the scores, which depend on the window.
void add_projections(const AttentionStep& s, OperatorList& out) {
  if (s.t.has_latent_attention()) {
    add_latent_projection(s, out);
  } else {
    add_grouped_projection(s, out);
  }
  add_rotary(s, out);
  add_indexer(s, out);
}

void add_core(const AttentionStep& s, OperatorList& out) {
  const double everything = s.shape.context_tokens + s.shape.new_tokens;
  if (s.t.window > 0) {
    add_attention_core(s, out, "attention.core_windowed", s.layers,
                       std::min(static_cast<double>(s.t.window), everything));
  } else {
    const double selected = s.t.selected_tokens > 0 ? static_cast<double>(s.t.selected_tokens) : everything;
    add_attention_core(s, out, "attention.core", s.layers, std::min(selected, everything));
  }
}

void add_output(const AttentionStep& s, OperatorList& out) {
  const double width = s.heads() * s.value_dim();
  if (s.t.output_gate) out.memory("attention.gate", s.layers, 3 * s.tokens() * width);
  Product p{.id = "attention.output", .count = s.layers, .rows = s.tokens(), .in = width, .out = s.hidden()};
  p.weights = linear_weights(s, s.hidden(), width, "layers.*.attention.output");
  if (s.t.output_bias) p.weights += rest_weights(s, s.hidden(), 1);
  p.quantized = quantizes_linears(s, "layers.*.attention.output");
  out.gemm(p);
}

/// Products with the recurrence's matrices, then its scan: each sequence's state is read and written once a step.
void add_recurrence(const Step& s, const MixerGroup& group, OperatorList& out) {
  const Recurrence& r = *group.recurrence;
  Product p{.id = "recurrence.projection", .count = static_cast<double>(group.layers), .rows = s.tokens()};
  double elements = 0;
  double width = 0;
  p.kernels = 0;
  for (const TensorGroup& tensor : r.tensors) {
    const double count = static_cast<double>(tensor.count);
    const double rows = static_cast<double>(tensor.rows) * (tensor.sharding == Sharding::column ? s.share() : 1);
    const double columns = static_cast<double>(tensor.columns) * (tensor.sharding == Sharding::row ? s.share() : 1);
    const Storage& storage = layer_storage(s, tensor);
    p.weights += count * stored_bytes(storage, rows, columns);
    if (!tensor.is_linear()) continue;
    p.quantized = storage.is_quantized();
    elements += count * rows * columns;
    width += count * (rows + columns);
    p.kernels += count;
  }
  p.in = 1;
  p.out = elements;  // the products' elements together, whatever their shapes
  out.projection(p, width);
  if (r.scan_flops <= 0) return;  // a product in the place of a mixer
  Operator op;
  op.id = "recurrence.scan";
  op.kind = OperatorKind::attention;
  op.arithmetic = s.plain();
  op.count = static_cast<double>(group.layers);
  op.flops = flop(r.scan_flops * s.share() * s.tokens());
  op.bytes = 2 * s.shape.sequences * r.state * s.share() + s.tokens() * width * s.activation();
  op.kernels = 2;  // the convolution, and the scan
  out.add(op);
}

/// Layers that differ in their windows alone share their rows but for the scores.
bool same_but_window(const Attention& one, const Attention& other) {
  Attention copy = one;
  copy.window = other.window;
  return copy == other;
}

/// Attention that is replicated: each replica has its part of the sequences, and its ranks split the heads.
Step attention_step(Step s, std::int64_t replicas) {
  if (replicas <= 1) return s;
  s.ranks = std::max<std::int64_t>(1, s.ranks / replicas);
  s.shape.sequences /= as_double(replicas);
  return s;
}

void add_mixers(const Step& s, OperatorList& out) {
  const std::vector<MixerGroup> groups = mixers_of(s.a);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].recurrence) add_recurrence(s, groups[i], out);
    if (groups[i].attention.heads == 0) continue;
    const auto alike = [&](const MixerGroup& other) { return same_but_window(other.attention, groups[i].attention); };
    if (std::any_of(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(i), alike)) continue;
    double layers = 0;
    for (std::size_t j = i; j < groups.size(); ++j)
      layers += alike(groups[j]) ? static_cast<double>(groups[j].layers) : 0;
    const AttentionStep all{s, groups[i].attention, layers};
    add_projections(all, out);
    for (std::size_t j = i; j < groups.size(); ++j) {
      if (alike(groups[j])) add_core({s, groups[j].attention, static_cast<double>(groups[j].layers)}, out);
    }
    add_output(all, out);
  }
}

struct MlpNames {
  std::string_view gate_up, activation, down;
};

void add_mlp(const Step& s, const Mlp& m, OperatorList& out, const MlpNames& names, double count, double intermediate,
             bool bias) {
  if (count <= 0 || intermediate <= 0) return;
  const double width = intermediate * s.share();
  const double wide = m.gated_mlp ? 2 * width : width;
  Product p{.id = names.gate_up, .count = count, .rows = s.tokens(), .in = s.hidden(), .out = wide};
  const auto group = [&](std::string_view id) {
    return s.scheme.groups.empty() ? std::string() : "layers.*." + std::string(id);
  };
  p.weights = linear_weights(s, wide, s.hidden(), group(names.gate_up));
  if (bias) p.weights += rest_weights(s, wide, 1);
  p.quantized = quantizes_linears(s, group(names.gate_up));
  out.gemm(p);
  out.memory(names.activation, count, s.tokens() * (wide + width));
  p.id = names.down;
  p.in = width;
  p.out = s.hidden();
  p.weights = linear_weights(s, s.hidden(), width, group(names.down));
  p.quantized = quantizes_linears(s, group(names.down));
  if (bias) p.weights += rest_weights(s, s.hidden(), 1);
  out.gemm(p);
}

/// Grouped products: tokens sorted by expert, up, activation, down, weighted sum. Only touched experts are read.
void add_routed_experts(const Step& s, const Mlp& m, double count, OperatorList& out) {
  const double experts = static_cast<double>(m.experts);
  const double chosen = static_cast<double>(m.experts_per_token);
  const double width = static_cast<double>(m.expert_intermediate) * s.share();
  const double wide = m.gated_mlp ? 2 * width : width;
  const double hidden = m.latent_width > 0 ? static_cast<double>(m.latent_width) : s.hidden();
  const Storage& up = storage_of("layers.*.experts.*.gate_up", s.scheme.expert, s.scheme);
  const Storage& down = storage_of("layers.*.experts.*.down", s.scheme.expert, s.scheme);
  Bytes one = stored_bytes(up, wide, hidden) + stored_bytes(down, hidden, width);
  if (m.expert_bias) one += rest_weights(s, wide + hidden, 1);
  const double rows = s.tokens() * chosen;
  Operator op;
  op.id = "experts";
  op.arithmetic = up.is_quantized() ? s.scheme.arithmetic : s.plain();
  op.weight_only = up.is_quantized() && s.scheme.weight_only;
  op.count = count;
  op.flops = flop(2 * rows * hidden * (wide + width));
  const double touched = touched_experts(experts, chosen, s.tokens());
  op.bytes = touched * one + rows * (2 * hidden + 2 * wide + 2 * width) * s.activation();
  op.rows = touched > 0 ? rows / touched : 0;
  op.columns = wide;
  op.groups = touched;
  op.kernels = 5;
  out.add(op);
}

void add_experts(const Step& s, const Mlp& m, double count, OperatorList& out) {
  const double experts = static_cast<double>(m.experts);
  Product router{.id = "router", .count = count, .rows = s.tokens(), .in = s.hidden(), .out = experts};
  router.weights = rest_weights(s, experts, s.hidden());
  if (m.router_bias) router.weights += rest_weights(s, experts, 1);
  router.quantized = false;
  router.kernels = 2;  // scores, and the choice
  out.gemm(router);
  if (m.latent_width > 0) {  // into the experts' own width, and back
    const double latent = static_cast<double>(m.latent_width);
    Product p{.id = "experts.latent", .count = 2 * count, .rows = s.tokens(), .in = s.hidden(), .out = latent};
    p.weights = linear_weights(s, latent, s.hidden(), "layers.*.experts.latent_down");
    p.quantized = quantizes_linears(s, "layers.*.experts.latent_down");
    out.gemm(p);
  }
  add_routed_experts(s, m, count, out);
  add_mlp(s, m, out, {"shared_experts.gate_up", "shared_experts.activation", "shared_experts.down"}, count,
          static_cast<double>(m.shared_expert_intermediate), false);
}

void add_mlps(const Step& s, OperatorList& out) {
  for (const MlpGroup& group : mlps_of(s.a)) {
    const double count = static_cast<double>(group.layers);
    if (group.mlp.has_experts()) {
      add_experts(s, group.mlp, count, out);
    } else {
      add_mlp(s, group.mlp, out, {"mlp.gate_up", "mlp.activation", "mlp.down"}, count,
              static_cast<double>(group.mlp.intermediate), group.mlp.mlp_bias);
    }
  }
}

/// Matrices that stand beside mixers and MLPs: narrow embeddings' projections, inputs of each layer, residual mixing.
void add_others(const Step& s, OperatorList& out) {
  Product p{.id = "others", .count = 1, .rows = s.tokens(), .in = 1};
  double width = 0;
  p.kernels = 0;
  const auto add = [&](const TensorGroup& tensor) {
    if (!tensor.multiplies() || tensor.uses <= 0) return;
    const double rows = as_double(tensor.rows);
    const double columns = as_double(tensor.columns);
    p.out += as_double(tensor.count) * rows * columns;
    p.weights += as_double(tensor.count) * stored_bytes(storage_of(tensor, s.scheme), rows, columns);
    width += as_double(tensor.count) * (rows + columns);
    p.kernels += as_double(tensor.count);
  };
  for (const TensorGroup& tensor : s.a.others) add(tensor);
  if (const std::int64_t narrow = s.a.embedding_width; narrow > 0 && narrow != s.a.hidden)
    add({"embedding", TensorRole::projection, Sharding::replicated, 2, s.a.hidden, narrow});
  if (p.out <= 0) return;
  p.quantized = quantizes_linears(s);
  out.projection(p, width);
}

void add_head(const Step& s, OperatorList& out) {
  out.memory("final_norm", 1, 4 * s.tokens() * s.hidden());
  const double width = static_cast<double>(s.a.vocab) * s.share();
  const double from = s.a.embedding_width > 0 ? as_double(s.a.embedding_width) : s.hidden();
  Product p{.id = "head", .count = 1, .rows = s.shape.logit_rows, .in = from, .out = width};
  const Storage& storage = s.a.tied_embeddings ? storage_of("embedding", s.scheme.embedding, s.scheme)
                                               : storage_of("head", s.scheme.head, s.scheme);
  p.weights = stored_bytes(storage, width, from);
  if (s.a.head_bias) p.weights += rest_weights(s, width, 1);
  p.quantized = false;
  out.gemm(p);
}

}  // namespace

std::string_view to_string(Phase value) { return value == Phase::prefill ? "prefill" : "decode"; }

double touched_experts(double experts, double k, double tokens) {
  if (experts <= 0) return 0;
  return experts * (1 - std::pow(1 - std::min(k / experts, 1.0), tokens));
}

std::vector<Operator> operators_of(const Architecture& architecture, const Scheme& scheme, const KvFormat& kv,
                                   const StepShape& step, const StepLayout& layout) {
  GPUPLAN_ASSERT(layout.tensor_parallel >= 1, "a tensor-parallel group has at least one rank");
  const Step s{architecture, scheme, kv, step, layout.tensor_parallel};
  OperatorList out(s);
  add_embedding(s, out);
  add_norms(s, out);
  add_mixers(attention_step(s, layout.attention_replicas), out);
  add_mlps(s, out);
  add_others(s, out);
  add_head(s, out);
  return out.take();
}

}  // namespace gpuplan
