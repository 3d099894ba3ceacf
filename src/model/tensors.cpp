#include <gpuplan/model/tensors.hpp>

#include <gpuplan/base/error.hpp>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace gpuplan {
namespace {

/// Collects groups; a group of no tensors is not a group.
class TensorList {
 public:
  TensorList(const Architecture& a, std::vector<TensorGroup>& out) : a_(a), out_(out) {}

  void matrix(std::string_view name, TensorRole role, Sharding sharding, std::int64_t rows, std::int64_t columns,
              std::int64_t layers, std::int64_t per_layer = 1) {
    const std::int64_t count = layers > 0 ? layers * per_layer : per_layer;
    add({std::string(name), role, sharding, count, rows, columns, layers});
  }
  /// Groups of layers that differ elsewhere have equal tensors here: those are one group.
  void add(TensorGroup group) {
    if (group.count <= 0 || group.rows <= 0 || group.columns <= 0) return;
    for (TensorGroup& known : out_) {
      if (known.name != group.name || known.rows != group.rows || known.columns != group.columns) continue;
      known.count += group.count;
      known.layers += group.layers;
      return;
    }
    out_.push_back(std::move(group));
  }
  void vector(std::string_view name, TensorRole role, Sharding sharding, std::int64_t width, std::int64_t layers,
              std::int64_t per_layer = 1) {
    matrix(name, role, sharding, width, 1, layers, per_layer);
  }
  /// A norm's weight and, for a layer norm, its bias. `layers` 0 is the norm after the last layer.
  void norm(std::string_view name, std::int64_t width, std::int64_t layers, std::int64_t per_layer) {
    if (!a_.norm_weights) return;
    const std::int64_t tensors = a_.norm == NormKind::layer ? 2 : 1;
    vector(name, TensorRole::norm, Sharding::replicated, width, layers, per_layer * tensors);
  }

 private:
  const Architecture& a_;
  std::vector<TensorGroup>& out_;
};

void add_grouped_attention(const Architecture& a, const Attention& t, std::int64_t layers, TensorList& out) {
  const std::int64_t q = t.heads * t.head_dim;
  const std::int64_t k = t.shares_cache ? 0 : t.kv_heads * t.head_dim;
  const std::int64_t v = t.shares_cache || t.value_is_key ? 0 : t.kv_heads * t.value_dim();
  const std::int64_t gate = t.output_gate ? t.heads * t.value_dim() : 0;
  out.matrix("layers.*.attention.q", TensorRole::attention, Sharding::column, q + gate, a.hidden, layers);
  out.matrix("layers.*.attention.k", TensorRole::attention, Sharding::kv_head, k, a.hidden, layers);
  out.matrix("layers.*.attention.v", TensorRole::attention, Sharding::kv_head, v, a.hidden, layers);
  out.matrix("layers.*.attention.output", TensorRole::attention, Sharding::row, a.hidden, t.heads * t.value_dim(),
             layers);
  if (t.qkv_bias) {
    out.vector("layers.*.attention.q_bias", TensorRole::bias, Sharding::column, q + gate, layers);
    if (k == v) {
      out.vector("layers.*.attention.kv_bias", TensorRole::bias, Sharding::kv_head, k, layers, 2);
    } else {
      out.vector("layers.*.attention.k_bias", TensorRole::bias, Sharding::kv_head, k, layers);
      out.vector("layers.*.attention.v_bias", TensorRole::bias, Sharding::kv_head, v, layers);
    }
  }
  if (t.qk_norm == QkNorm::per_head) {
    out.vector("layers.*.attention.qk_norm", TensorRole::norm, Sharding::replicated, t.head_dim, layers,
               t.shares_cache ? 1 : 2);
  } else if (t.qk_norm == QkNorm::full) {
    out.vector("layers.*.attention.q_norm", TensorRole::norm, Sharding::column, q, layers);
    out.vector("layers.*.attention.k_norm", TensorRole::norm, Sharding::kv_head, k, layers);
  }
}

// The down-projections are whole on every rank (the latent is shared by all heads); the up-projections split by head.
void add_latent_attention(const Architecture& a, const Attention& t, std::int64_t layers, TensorList& out) {
  const TensorRole role = TensorRole::attention;
  const std::int64_t q = t.heads * t.qk_dim();
  if (t.q_lora_rank > 0) {
    out.matrix("layers.*.attention.q_a", role, Sharding::replicated, t.q_lora_rank, a.hidden, layers);
    out.vector("layers.*.attention.q_a_norm", TensorRole::norm, Sharding::replicated, t.q_lora_rank, layers);
    out.matrix("layers.*.attention.q_b", role, Sharding::column, q, t.q_lora_rank, layers);
  } else {
    out.matrix("layers.*.attention.q", role, Sharding::column, q, a.hidden, layers);
  }
  out.matrix("layers.*.attention.kv_a", role, Sharding::replicated, t.kv_lora_rank + t.qk_rope_head_dim, a.hidden,
             layers);
  out.vector("layers.*.attention.kv_a_norm", TensorRole::norm, Sharding::replicated, t.kv_lora_rank, layers);
  out.matrix("layers.*.attention.kv_b", role, Sharding::column, t.heads * (t.qk_nope_head_dim + t.v_head_dim),
             t.kv_lora_rank, layers);
  if (t.output_gate) {
    out.matrix("layers.*.attention.gate", role, Sharding::column, t.heads * t.v_head_dim, a.hidden, layers);
  }
  out.matrix("layers.*.attention.output", role, Sharding::row, a.hidden, t.heads * t.v_head_dim, layers);
}

/// The indexer of sparse attention: its own queries, one key a token, and a weight for each of its heads. Whole on every
/// rank. The two vectors are the weight and bias of the keys' layer norm, or the weights of RMS norms of queries and keys.
void add_indexer(const Architecture& a, const Attention& t, std::int64_t layers, TensorList& out) {
  const TensorRole role = TensorRole::attention;
  const std::int64_t from = t.q_lora_rank > 0 ? t.q_lora_rank : a.hidden;
  out.matrix("layers.*.indexer.q", role, Sharding::replicated, t.index_heads * t.index_dim, from, layers);
  out.matrix("layers.*.indexer.k", role, Sharding::replicated, t.index_dim, a.hidden, layers);
  out.vector("layers.*.indexer.k_norm", TensorRole::norm, Sharding::replicated, t.index_dim, layers, 2);
  if (!t.index_weights) return;
  out.matrix("layers.*.indexer.weights", TensorRole::router, Sharding::replicated, t.index_heads, a.hidden, layers);
}

void add_attention(const Architecture& a, const Attention& t, std::int64_t layers, TensorList& out) {
  if (t.has_latent_attention()) {
    add_latent_attention(a, t, layers, out);
  } else {
    add_grouped_attention(a, t, layers, out);
  }
  if (t.index_heads > 0) add_indexer(a, t, layers, out);
  if (t.output_bias) {
    out.vector("layers.*.attention.output_bias", TensorRole::bias, Sharding::replicated, a.hidden, layers);
  }
  if (t.head_gate) {
    out.matrix("layers.*.attention.head_gate", TensorRole::attention, Sharding::column, t.heads, a.hidden, layers);
  }
  if (t.attention_sinks) {
    out.vector("layers.*.attention.sinks", TensorRole::sink, Sharding::column, t.heads, layers);
  }
}

void add_recurrence(const Recurrence& r, std::int64_t layers, TensorList& out) {
  for (TensorGroup tensor : r.tensors) {
    tensor.name = "layers.*." + tensor.name;
    tensor.count *= layers;
    tensor.layers = layers;
    out.add(std::move(tensor));
  }
}

std::int64_t expert_width(const Architecture& a, const Mlp& m) {
  return m.latent_width > 0 ? m.latent_width : a.hidden;
}

void add_plain_mlp(const Architecture& a, const Mlp& m, std::int64_t layers, TensorList& out) {
  const std::int64_t wide = m.gated_mlp ? 2 : 1;  // gate and up, or up alone
  out.matrix("layers.*.mlp.gate_up", TensorRole::mlp, Sharding::column, m.intermediate, a.hidden, layers, wide);
  out.matrix("layers.*.mlp.down", TensorRole::mlp, Sharding::row, a.hidden, m.intermediate, layers);
  if (m.mlp_bias) {
    out.vector("layers.*.mlp.gate_up_bias", TensorRole::bias, Sharding::column, m.intermediate, layers, wide);
    out.vector("layers.*.mlp.down_bias", TensorRole::bias, Sharding::replicated, a.hidden, layers);
  }
}

void add_experts(const Architecture& a, const Mlp& m, std::int64_t layers, TensorList& out) {
  const std::int64_t wide = m.gated_mlp ? 2 : 1;
  const std::int64_t f = m.expert_intermediate;
  const std::int64_t width = expert_width(a, m);
  const TensorRole role = TensorRole::expert;
  out.matrix("layers.*.router", TensorRole::router, Sharding::replicated, m.experts, a.hidden, layers);
  if (m.router_bias) {
    out.vector("layers.*.router_bias", TensorRole::router, Sharding::replicated, m.experts, layers);
  }
  out.matrix("layers.*.experts.*.gate_up", role, Sharding::column, f, width, layers, m.experts * wide);
  out.matrix("layers.*.experts.*.down", role, Sharding::row, width, f, layers, m.experts);
  if (m.expert_bias) {
    out.vector("layers.*.experts.*.gate_up_bias", TensorRole::bias, Sharding::column, f, layers, m.experts * wide);
    out.vector("layers.*.experts.*.down_bias", TensorRole::bias, Sharding::replicated, width, layers, m.experts);
  }
  if (m.latent_width > 0) {
    out.matrix("layers.*.experts.latent_down", TensorRole::mlp, Sharding::replicated, width, a.hidden, layers);
    out.matrix("layers.*.experts.latent_up", TensorRole::mlp, Sharding::replicated, a.hidden, width, layers);
  }
  const std::int64_t s = m.shared_expert_intermediate;
  const TensorRole shared = TensorRole::shared_expert;
  out.matrix("layers.*.shared_experts.gate_up", shared, Sharding::column, s, a.hidden, layers, wide);
  out.matrix("layers.*.shared_experts.down", shared, Sharding::row, a.hidden, s, layers);
  if (m.shared_expert_gate) {
    out.matrix("layers.*.shared_experts.gate", TensorRole::router, Sharding::replicated, 1, a.hidden, layers);
  }
}

constexpr std::pair<TensorRole, std::string_view> kRoles[] = {
    {TensorRole::embedding, "embedding"},
    {TensorRole::head, "head"},
    {TensorRole::position, "position"},
    {TensorRole::norm, "norm"},
    {TensorRole::bias, "bias"},
    {TensorRole::sink, "sink"},
    {TensorRole::router, "router"},
    {TensorRole::attention, "attention"},
    {TensorRole::mlp, "mlp"},
    {TensorRole::expert, "expert"},
    {TensorRole::shared_expert, "shared_expert"},
    {TensorRole::recurrence, "recurrence"},
    {TensorRole::state, "state"},
    {TensorRole::convolution, "convolution"},
    {TensorRole::projection, "projection"},
};

}  // namespace

std::string_view to_string(TensorRole value) {
  for (const auto& [role, name] : kRoles) {
    if (role == value) return name;
  }
  return "?";
}

std::vector<TensorGroup> tensors_of(const Architecture& a) {
  std::vector<TensorGroup> groups;
  TensorList out(a, groups);
  const std::int64_t width = a.embedding_width > 0 ? a.embedding_width : a.hidden;
  out.matrix("embedding", TensorRole::embedding, Sharding::vocabulary, a.vocab, width, 0);
  if (a.learned_positions) {
    out.matrix("positions", TensorRole::position, Sharding::replicated, a.max_position + a.position_offset, a.hidden,
               0);
  }
  if (width != a.hidden) {
    out.matrix("embedding_in", TensorRole::projection, Sharding::replicated, a.hidden, width, 0);
    out.matrix("embedding_out", TensorRole::projection, Sharding::replicated, width, a.hidden, 0);
  }
  if (a.embedding_norm) out.norm("embedding_norm", a.hidden, 0, 1);
  out.norm("layers.*.norm", a.hidden, a.layers, a.norms_per_layer);
  for (const MixerGroup& group : mixers_of(a)) {
    if (group.attention.heads > 0) add_attention(a, group.attention, group.layers, out);
    if (group.recurrence) add_recurrence(*group.recurrence, group.layers, out);
  }
  for (const MlpGroup& group : mlps_of(a)) {
    if (group.mlp.has_experts()) {
      add_experts(a, group.mlp, group.layers, out);
    } else {
      add_plain_mlp(a, group.mlp, group.layers, out);
    }
  }
  for (const TensorGroup& other : a.others) out.add(other);
  if (a.final_norm) out.norm("final_norm", a.hidden, 0, 1);
  if (!a.tied_embeddings) out.matrix("head", TensorRole::head, Sharding::vocabulary, a.vocab, width, 0);
  if (a.head_bias) out.vector("head_bias", TensorRole::bias, Sharding::vocabulary, a.vocab, 0);
  return groups;
}

std::int64_t parameters(std::span<const TensorGroup> tensors) {
  std::int64_t total = 0;
  for (const TensorGroup& t : tensors) total += t.elements();
  return total;
}

std::int64_t active_parameters(const Architecture& a) {
  std::int64_t total = parameters(tensors_of(a));
  for (const MlpGroup& group : mlps_of(a)) {
    const Mlp& m = group.mlp;
    const std::int64_t width = expert_width(a, m);
    const std::int64_t wide = m.gated_mlp ? 2 : 1;
    std::int64_t one = (wide + 1) * width * m.expert_intermediate;
    if (m.expert_bias) one += wide * m.expert_intermediate + width;
    total -= group.layers * (m.experts - m.experts_per_token) * one;
  }
  return total;
}

const Storage& storage_of(const TensorGroup& tensor, const Scheme& scheme) {
  for (const GroupStorage& group : scheme.groups) {
    if (group.rows == tensor.rows && group.columns == tensor.columns && group.name == tensor.name) return group.storage;
  }
  if (tensor.role == TensorRole::embedding) return scheme.embedding;
  if (tensor.role == TensorRole::head) return scheme.head;
  if (!tensor.is_linear()) return scheme.rest;
  return tensor.role == TensorRole::expert ? scheme.expert : scheme.linear;
}

const Storage& storage_of(std::string_view name, const Storage& otherwise, const Scheme& scheme) {
  for (const GroupStorage& group : scheme.groups) {
    if (group.name == name) return group.storage;
  }
  return otherwise;
}

Bytes weights_bytes(std::span<const TensorGroup> tensors, const Scheme& scheme) {
  Bytes total;
  for (const TensorGroup& t : tensors) {
    total += static_cast<double>(t.count) *
             stored_bytes(storage_of(t, scheme), static_cast<double>(t.rows), static_cast<double>(t.columns));
  }
  return total;
}

double shard_share(const TensorGroup& tensor, const Architecture& architecture, std::int64_t tensor_parallel) {
  GPUPLAN_ASSERT(tensor_parallel >= 1, "a tensor-parallel group has at least one rank");
  const auto ranks = static_cast<double>(tensor_parallel);
  switch (tensor.sharding) {
    case Sharding::replicated:
      return 1.0;
    case Sharding::kv_head: {
      const auto heads = static_cast<double>(architecture.kv_heads);
      return std::ceil(heads / ranks) / heads;  // the fullest rank
    }
    case Sharding::column:
    case Sharding::row:
    case Sharding::vocabulary:
      return 1.0 / ranks;
  }
  return 1.0;
}

}  // namespace gpuplan
