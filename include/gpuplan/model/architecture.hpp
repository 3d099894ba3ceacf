#pragma once
/// A language model's architecture: the numbers that decide its tensors, its cache and its operators.
///
/// A layer mixes tokens (attention, or a recurrence with a state of fixed size) and then transforms each of them (an MLP, dense or
/// of experts). Most networks repeat one layer, which the members of `Architecture` describe, with windows and dense layers
/// counted apart; networks whose layers differ list them in `mixers` and `mlps`. Everything that computes goes over
/// `mixers_of` and `mlps_of`, which give the groups in either case.
/// Counts are exact; `check_architecture` refuses what cannot be (zero heads, heads that do not divide, …).

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/catalog/records.hpp>
#include <gpuplan/model/tensor_group.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

/// Multi-head, grouped-query, multi-query or latent attention (MLA). No heads: none.
struct Attention {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t v_head_dim = 0;  ///< without latent attention 0: values are as wide as keys
  std::int64_t window = 0;      ///< 0: no sliding window
  bool qkv_bias = false;
  bool output_bias = false;
  bool output_gate = false;   ///< the query projection also gives a gate on the heads' outputs, as wide as the values
  bool value_is_key = false;  ///< no value projection: values are the keys before norm and rotation; both are cached
  bool attention_sinks = false;  ///< one learned value a head
  QkNorm qk_norm = QkNorm::none;
  std::int64_t kv_lora_rank = 0;  ///< 0: no latent attention
  std::int64_t q_lora_rank = 0;   ///< 0: queries are projected directly
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t qk_rope_head_dim = 0;
  std::int64_t index_heads =
      0;                       ///< sparse attention: heads of the indexer that picks tokens; 0: every token is attended
  std::int64_t index_dim = 0;  ///< width of an index head; its one key a token is cached
  std::int64_t selected_tokens = 0;  ///< how many tokens the indexer picks
  bool index_weights = true;         ///< the indexer weighs its heads token by token
  bool head_gate = false;            ///< one gate a head on its output
  bool shares_cache = false;  ///< reads the keys and values of an earlier layer: projects and caches none of its own

  [[nodiscard]] bool has_latent_attention() const { return kv_lora_rank > 0; }
  /// Width of one head's query and key, and of its value.
  [[nodiscard]] std::int64_t qk_dim() const {
    return has_latent_attention() ? qk_nope_head_dim + qk_rope_head_dim : head_dim;
  }
  [[nodiscard]] std::int64_t value_dim() const {
    return has_latent_attention() || v_head_dim > 0 ? v_head_dim : head_dim;
  }
  bool operator==(const Attention&) const = default;
};

/// A mixer that carries a state of fixed size from token to token: state-space layers, linear attention, RWKV, short convolutions.
struct Recurrence {
  std::string kind;                  ///< `mamba2`, `gated_delta_net`, …
  std::vector<TensorGroup> tensors;  ///< of one layer: `count` within it, names without the layer
  Bytes state;                       ///< of one layer and sequence, whatever its length
  double scan_flops = 0;             ///< a token and layer, beside the products with `tensors`
};

/// An MLP: plain when it has no experts.
struct Mlp {
  std::int64_t intermediate = 0;  ///< width of a plain MLP
  bool gated_mlp = true;
  bool mlp_bias = false;
  std::int64_t experts = 0;
  std::int64_t experts_per_token = 0;
  std::int64_t shared_experts = 0;
  std::int64_t expert_intermediate = 0;
  std::int64_t shared_expert_intermediate = 0;  ///< width of all shared experts together
  std::int64_t latent_width = 0;                ///< experts work on so many dimensions; 0: on the hidden size
  bool router_bias = false;
  bool expert_bias = false;
  bool shared_expert_gate = false;

  [[nodiscard]] bool has_experts() const { return experts > 0; }
  bool operator==(const Mlp&) const = default;
};

/// Layers with equal mixers; a layer may have attention and a recurrence side by side.
struct MixerGroup {
  std::int64_t layers = 0;
  Attention attention;
  std::optional<Recurrence> recurrence;
};
struct MlpGroup {
  std::int64_t layers = 0;
  Mlp mlp;
};

/// The base classes are the attention and the MLP of most layers that have one.
struct Architecture : Attention, Mlp {
  std::string name;
  std::string family;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t embedding_width = 0;  ///< of the token table when it is not `hidden`: projected in and out
  std::int64_t vocab = 0;
  std::int64_t max_position = 0;  ///< 0 when unknown
  bool tied_embeddings = false;
  bool head_bias = false;
  bool learned_positions = false;
  std::int64_t position_offset = 0;
  bool parallel_blocks = false;
  NormKind norm = NormKind::rms;
  bool norm_weights = true;     ///< false: norms without parameters
  bool embedding_norm = false;  ///< a norm between the embedding and the first layer
  bool final_norm = true;
  std::int64_t norms_per_layer = 2;
  std::int64_t windowed_layers = 0;  ///< how many layers slide
  std::int64_t dense_layers = 0;     ///< layers with a plain MLP in a model with experts
  std::vector<MixerGroup> mixers;    ///< empty: all layers have the attention above
  std::vector<MlpGroup>
      mlps;  ///< empty: all layers have the MLP above, or none has where `mixers` are listed and it has no width
  std::vector<TensorGroup> others;  ///< tensors that no member above tells, with their full names
  std::string native_format;

  [[nodiscard]] std::int64_t expert_layers() const { return has_experts() ? layers - dense_layers : 0; }
  [[nodiscard]] std::int64_t plain_layers() const { return layers - expert_layers(); }
};

/// The layers by what mixes their tokens; groups of no layers are left out. They need not add up to `layers`: some networks
/// have layers that are an MLP alone.
std::vector<MixerGroup> mixers_of(const Architecture& architecture);
/// The layers by their MLPs.
std::vector<MlpGroup> mlps_of(const Architecture& architecture);
/// Layers that keep keys and values, and those among them with a window.
std::int64_t attention_layers(const Architecture& architecture);
std::int64_t windowed_layers(const Architecture& architecture);
/// State that one sequence carries in all layers, whatever its length.
Bytes state_bytes(const Architecture& architecture);

Architecture architecture_of(const ModelPreset& preset);

/// What makes an architecture impossible; empty when it can be.
std::vector<Problem> check_architecture(const Architecture& architecture);

}  // namespace gpuplan
