#pragma once
/// A network's architecture: the numbers that decide its tensors, its cache and its operators.
///
/// One struct serves decoder-only transformers: multi-head, grouped-query and multi-query attention, multi-head latent
/// attention (MLA), sliding windows, dense and mixture-of-experts MLPs with shared experts and leading dense layers.
/// Counts are exact; `check_architecture` refuses what cannot be (zero heads, heads that do not divide, …).

#include <gpuplan/base/error.hpp>
#include <gpuplan/catalog/records.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gpuplan {

struct Architecture {
  std::string name;
  std::string family;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate = 0;  ///< width of a plain MLP; 0 when every layer has experts only
  std::int64_t vocab = 0;
  std::int64_t max_position = 0;  ///< 0 when unknown
  bool tied_embeddings = false;
  bool gated_mlp = true;
  bool qkv_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;
  bool learned_positions = false;
  std::int64_t position_offset = 0;
  bool attention_sinks = false;
  bool parallel_blocks = false;
  NormKind norm = NormKind::rms;
  bool norm_weights = true;     ///< false: norms without parameters
  bool embedding_norm = false;  ///< a norm between the embedding and the first layer
  QkNorm qk_norm = QkNorm::none;
  std::int64_t norms_per_layer = 2;
  std::int64_t window = 0;           ///< 0: no sliding window
  std::int64_t windowed_layers = 0;  ///< how many layers slide
  std::int64_t experts = 0;          ///< 0: dense
  std::int64_t experts_per_token = 0;
  std::int64_t shared_experts = 0;
  std::int64_t expert_intermediate = 0;
  std::int64_t shared_expert_intermediate = 0;  ///< width of all shared experts together
  std::int64_t dense_layers = 0;                ///< layers with a plain MLP in a model with experts
  bool router_bias = false;
  bool expert_bias = false;
  bool shared_expert_gate = false;
  std::int64_t kv_lora_rank = 0;  ///< 0: no latent attention
  std::int64_t q_lora_rank = 0;   ///< 0: queries are projected directly
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t qk_rope_head_dim = 0;
  std::int64_t v_head_dim = 0;  ///< without latent attention 0: values are as wide as keys
  std::string native_format;

  [[nodiscard]] bool has_experts() const { return experts > 0; }
  [[nodiscard]] bool has_latent_attention() const { return kv_lora_rank > 0; }
  [[nodiscard]] std::int64_t expert_layers() const { return has_experts() ? layers - dense_layers : 0; }
  [[nodiscard]] std::int64_t plain_layers() const { return layers - expert_layers(); }
  /// Width of one head's query and key, and of its value.
  [[nodiscard]] std::int64_t qk_dim() const {
    return has_latent_attention() ? qk_nope_head_dim + qk_rope_head_dim : head_dim;
  }
  [[nodiscard]] std::int64_t value_dim() const {
    return has_latent_attention() || v_head_dim > 0 ? v_head_dim : head_dim;
  }
};

Architecture architecture_of(const ModelPreset& preset);

/// What makes an architecture impossible; empty when it can be.
std::vector<Problem> check_architecture(const Architecture& architecture);

}  // namespace gpuplan
