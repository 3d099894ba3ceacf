#include "../family.hpp"
#include "common.hpp"
#include "layer_list.hpp"
#include "recurrence.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace gpuplan {
namespace {

constexpr std::int64_t kKvHeads = 32;    // Qwen2Config and Qwen3Config
constexpr std::int64_t kMoeKvHeads = 4;  // Qwen3MoeConfig
constexpr std::int64_t kHeadDim = 128;   // Qwen3Config
constexpr std::int64_t kMaxWindowLayers = 28;

/// Layers from `max_window_layers` on slide, and only when `use_sliding_window` says so.
void read_qwen_windows(Fields& in, Architecture& a) {
  if (!in.flag({"use_sliding_window"}, false)) return;
  read_windows(in, a, in.amount({"sliding_window"}), a.layers - in.amount_or({"max_window_layers"}, kMaxWindowLayers));
}

/// Experts in every `decoder_sparse_step`-th layer but those of `mlp_only_layers`.
void read_qwen_experts(Fields& in, Architecture& a) {
  read_experts(in, a, {"num_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"});
  const std::vector<std::int64_t> plain = in.amounts("mlp_only_layers");
  const std::int64_t step = in.count_or({"decoder_sparse_step"}, 1);
  constexpr std::int64_t most_layers = 10000;  // check_architecture refuses more
  for (std::int64_t i = 0; i < std::min(a.layers, most_layers); ++i) {
    const bool listed = std::find(plain.begin(), plain.end(), i) != plain.end();
    if (listed || (i + 1) % step != 0) ++a.dense_layers;
  }
  if (a.dense_layers > 0) a.intermediate = in.count({"intermediate_size"});
}

void read_qwen3_attention(Fields& in, Architecture& a) {
  if (!in.states("head_dim")) a.head_dim = kHeadDim;
  a.qk_norm = QkNorm::per_head;
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
  read_qwen_windows(in, a);
}

/// Gated delta nets, with gated attention in every `full_attention_interval`-th layer.
void read_delta_mixers(Fields& in, Architecture& a, LayerList& layers) {
  const auto size = [&](std::string_view key, std::int64_t otherwise) {
    return static_cast<double>(in.count_or({key}, otherwise));
  };
  DeltaNetShape s{.hidden = static_cast<double>(a.hidden)};
  s.key_heads = size("linear_num_key_heads", 16);
  s.key_dim = size("linear_key_head_dim", 128);
  s.value_heads = size("linear_num_value_heads", 32);
  s.value_dim = size("linear_value_head_dim", 128);
  s.kernel = size("linear_conv_kernel_dim", 4);
  const Recurrence recurrent = gated_delta_net(s);
  a.qk_norm = QkNorm::per_head;
  a.output_gate = in.flag({"attn_output_gate"}, true);
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
  const Attention attention = a;
  const std::vector<std::string> types = in.texts("layer_types");
  if (!types.empty() && !lists_each_layer(in, "layer_types", types.size(), a)) return;
  const std::int64_t interval = in.count_or({"full_attention_interval"}, 4);
  for (std::int64_t i = 0; i < listed_layers(a); ++i) {
    const auto place = static_cast<std::size_t>(i);
    const bool attends =
        types.empty() ? (i + 1) % interval == 0 : place < types.size() && types[place] == "full_attention";
    attends ? layers.mixer(attention) : layers.mixer(recurrent);
  }
}

void read_delta_heads(Fields& in, Architecture& a) {
  read_shape(in, a);
  a.heads = in.count({"num_attention_heads"});
  a.kv_heads = in.assumed({"num_key_value_heads"}, 2);
  a.head_dim = in.count_or({"head_dim"}, 256);  // Qwen3NextConfig
}

}  // namespace

/// Qwen (1): `intermediate_size` is gate and up together.
void read_qwen(Fields& in, Architecture& a) {
  read_shape(in, a);
  a.heads = in.count({"num_attention_heads"});
  a.kv_heads = a.heads;
  const std::int64_t width = in.count_or({"kv_channels"}, 0);
  a.head_dim = width > 0 ? width : divided_head_dim(in, a);
  a.intermediate = in.count({"intermediate_size"}) / 2;
  a.qkv_bias = true;
  if (!in.flag({"no_bias"}, true)) {
    a.output_bias = true;
    a.mlp_bias = true;
  }
}

void read_qwen2(Fields& in, Architecture& a) {
  read_gated_decoder(in, a, kKvHeads);
  a.qkv_bias = true;
  read_qwen_windows(in, a);
}

void read_qwen2_moe(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a);
  a.qkv_bias = in.flag({"qkv_bias"}, true);
  read_qwen_experts(in, a);
  a.shared_expert_intermediate = in.amount_or({"shared_expert_intermediate_size"}, 0);
  a.shared_experts = a.shared_expert_intermediate > 0 ? 1 : 0;
  a.shared_expert_gate = a.shared_experts > 0;
  read_qwen_windows(in, a);
}

void read_qwen3(Fields& in, Architecture& a) {
  read_gated_decoder(in, a, kKvHeads);
  read_qwen3_attention(in, a);
}

void read_qwen3_moe(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a, kMoeKvHeads);
  read_qwen_experts(in, a);
  read_qwen3_attention(in, a);
}

/// Qwen3-Next and Qwen3.5 with experts: gated DeltaNet and gated attention.
void read_qwen3_next(Fields& in, Architecture& a) {
  read_delta_heads(in, a);
  read_qwen_experts(in, a);
  a.shared_expert_intermediate = in.amount_or({"shared_expert_intermediate_size"}, 512);
  a.shared_experts = a.shared_expert_intermediate > 0 ? 1 : 0;
  a.shared_expert_gate = a.shared_experts > 0;
  LayerList layers;
  for (const MlpGroup& group : mlps_of(a)) layers.mlp(group.mlp, group.layers);
  read_delta_mixers(in, a, layers);
  layers.into(a);
}

void read_qwen3_5(Fields& in, Architecture& a) {
  read_delta_heads(in, a);
  a.intermediate = in.count({"intermediate_size"});
  LayerList layers;
  layers.mlp(a, a.layers);
  read_delta_mixers(in, a, layers);
  layers.into(a);
}

}  // namespace gpuplan
