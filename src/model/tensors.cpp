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
    if (count <= 0 || rows <= 0 || columns <= 0) return;
    out_.push_back({std::string(name), role, sharding, count, rows, columns, layers});
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

void add_grouped_attention(const Architecture& a, TensorList& out) {
  const std::int64_t q = a.heads * a.head_dim;
  const std::int64_t k = a.kv_heads * a.head_dim;
  const std::int64_t v = a.kv_heads * a.value_dim();
  out.matrix("layers.*.attention.q", TensorRole::attention, Sharding::column, q, a.hidden, a.layers);
  out.matrix("layers.*.attention.k", TensorRole::attention, Sharding::kv_head, k, a.hidden, a.layers);
  out.matrix("layers.*.attention.v", TensorRole::attention, Sharding::kv_head, v, a.hidden, a.layers);
  out.matrix("layers.*.attention.output", TensorRole::attention, Sharding::row, a.hidden, a.heads * a.value_dim(),
             a.layers);
  if (a.qkv_bias) {
    out.vector("layers.*.attention.q_bias", TensorRole::bias, Sharding::column, q, a.layers);
    if (k == v) {
      out.vector("layers.*.attention.kv_bias", TensorRole::bias, Sharding::kv_head, k, a.layers, 2);
    } else {
      out.vector("layers.*.attention.k_bias", TensorRole::bias, Sharding::kv_head, k, a.layers);
      out.vector("layers.*.attention.v_bias", TensorRole::bias, Sharding::kv_head, v, a.layers);
    }
  }
  if (a.qk_norm == QkNorm::per_head) {
    out.vector("layers.*.attention.qk_norm", TensorRole::norm, Sharding::replicated, a.head_dim, a.layers, 2);
  } else if (a.qk_norm == QkNorm::full) {
    out.vector("layers.*.attention.q_norm", TensorRole::norm, Sharding::column, q, a.layers);
    out.vector("layers.*.attention.k_norm", TensorRole::norm, Sharding::kv_head, k, a.layers);
  }
}

// The down-projections are whole on every rank (the latent is shared by all heads); the up-projections split by head.
void add_latent_attention(const Architecture& a, TensorList& out) {
  const TensorRole role = TensorRole::attention;
  const std::int64_t q = a.heads * a.qk_dim();
  if (a.q_lora_rank > 0) {
    out.matrix("layers.*.attention.q_a", role, Sharding::replicated, a.q_lora_rank, a.hidden, a.layers);
    out.vector("layers.*.attention.q_a_norm", TensorRole::norm, Sharding::replicated, a.q_lora_rank, a.layers);
    out.matrix("layers.*.attention.q_b", role, Sharding::column, q, a.q_lora_rank, a.layers);
  } else {
    out.matrix("layers.*.attention.q", role, Sharding::column, q, a.hidden, a.layers);
  }
  out.matrix("layers.*.attention.kv_a", role, Sharding::replicated, a.kv_lora_rank + a.qk_rope_head_dim, a.hidden,
             a.layers);
  out.vector("layers.*.attention.kv_a_norm", TensorRole::norm, Sharding::replicated, a.kv_lora_rank, a.layers);
  out.matrix("layers.*.attention.kv_b", role, Sharding::column, a.heads * (a.qk_nope_head_dim + a.v_head_dim),
             a.kv_lora_rank, a.layers);
  out.matrix("layers.*.attention.output", role, Sharding::row, a.hidden, a.heads * a.v_head_dim, a.layers);
}

void add_attention(const Architecture& a, TensorList& out) {
  if (a.has_latent_attention()) {
    add_latent_attention(a, out);
  } else {
    add_grouped_attention(a, out);
  }
  if (a.output_bias) {
    out.vector("layers.*.attention.output_bias", TensorRole::bias, Sharding::replicated, a.hidden, a.layers);
  }
  if (a.attention_sinks) {
    out.vector("layers.*.attention.sinks", TensorRole::sink, Sharding::column, a.heads, a.layers);
  }
}

void add_plain_mlp(const Architecture& a, TensorList& out) {
  const std::int64_t layers = a.plain_layers();
  if (layers == 0) return;
  const std::int64_t wide = a.gated_mlp ? 2 : 1;  // gate and up, or up alone
  out.matrix("layers.*.mlp.gate_up", TensorRole::mlp, Sharding::column, a.intermediate, a.hidden, layers, wide);
  out.matrix("layers.*.mlp.down", TensorRole::mlp, Sharding::row, a.hidden, a.intermediate, layers);
  if (a.mlp_bias) {
    out.vector("layers.*.mlp.gate_up_bias", TensorRole::bias, Sharding::column, a.intermediate, layers, wide);
    out.vector("layers.*.mlp.down_bias", TensorRole::bias, Sharding::replicated, a.hidden, layers);
  }
}

void add_experts(const Architecture& a, TensorList& out) {
  const std::int64_t layers = a.expert_layers();
  if (layers == 0) return;
  const std::int64_t wide = a.gated_mlp ? 2 : 1;
  const std::int64_t f = a.expert_intermediate;
  const TensorRole role = TensorRole::expert;
  out.matrix("layers.*.router", TensorRole::router, Sharding::replicated, a.experts, a.hidden, layers);
  if (a.router_bias) {
    out.vector("layers.*.router_bias", TensorRole::router, Sharding::replicated, a.experts, layers);
  }
  out.matrix("layers.*.experts.*.gate_up", role, Sharding::column, f, a.hidden, layers, a.experts * wide);
  out.matrix("layers.*.experts.*.down", role, Sharding::row, a.hidden, f, layers, a.experts);
  if (a.expert_bias) {
    out.vector("layers.*.experts.*.gate_up_bias", TensorRole::bias, Sharding::column, f, layers, a.experts * wide);
    out.vector("layers.*.experts.*.down_bias", TensorRole::bias, Sharding::replicated, a.hidden, layers, a.experts);
  }
  const std::int64_t s = a.shared_expert_intermediate;
  const TensorRole shared = TensorRole::shared_expert;
  out.matrix("layers.*.shared_experts.gate_up", shared, Sharding::column, s, a.hidden, layers, wide);
  out.matrix("layers.*.shared_experts.down", shared, Sharding::row, a.hidden, s, layers);
  if (a.shared_expert_gate) {
    out.matrix("layers.*.shared_experts.gate", TensorRole::router, Sharding::replicated, 1, a.hidden, layers);
  }
}

bool is_routed(const TensorGroup& t) { return t.name.find(".experts.*.") != std::string::npos; }

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
  out.matrix("embedding", TensorRole::embedding, Sharding::vocabulary, a.vocab, a.hidden, 0);
  if (a.learned_positions) {
    out.matrix("positions", TensorRole::position, Sharding::replicated, a.max_position + a.position_offset, a.hidden,
               0);
  }
  if (a.embedding_norm) out.norm("embedding_norm", a.hidden, 0, 1);
  out.norm("layers.*.norm", a.hidden, a.layers, a.norms_per_layer);
  add_attention(a, out);
  add_plain_mlp(a, out);
  add_experts(a, out);
  out.norm("final_norm", a.hidden, 0, 1);
  if (!a.tied_embeddings) out.matrix("head", TensorRole::head, Sharding::vocabulary, a.vocab, a.hidden, 0);
  if (a.head_bias) out.vector("head_bias", TensorRole::bias, Sharding::vocabulary, a.vocab, 0);
  return groups;
}

std::int64_t parameters(std::span<const TensorGroup> tensors) {
  std::int64_t total = 0;
  for (const TensorGroup& t : tensors) total += t.elements();
  return total;
}

std::int64_t active_parameters(const Architecture& architecture) {
  std::int64_t total = 0;
  for (const TensorGroup& t : tensors_of(architecture)) {
    // Experts are equal, so the count divides: k of them instead of all.
    total += is_routed(t) ? t.elements() / architecture.experts * architecture.experts_per_token : t.elements();
  }
  return total;
}

const Storage& storage_of(const TensorGroup& tensor, const Scheme& scheme) {
  const bool quantized = scheme.experts_only ? tensor.role == TensorRole::expert : tensor.is_linear();
  return quantized ? scheme.linear : scheme.rest;
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
