#include "../family.hpp"
#include "common.hpp"
#include "layer_list.hpp"
#include "recurrence.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

/// Gated short convolutions, attention with normed queries and keys in the layers that say so.
void read_lfm2_mixers(Fields& in, Architecture& a, LayerList& layers) {
  a.qk_norm = QkNorm::per_head;
  const Attention attention = a;
  ShortConvolutionShape s{.hidden = as_double(a.hidden)};
  s.kernel = as_double(in.count_or({"conv_L_cache"}, 3));
  s.bias = in.flag({"conv_bias"}, false);
  const Recurrence recurrent = short_convolution(s);
  const std::vector<std::string> types = in.texts("layer_types");
  const std::vector<std::int64_t> listed = in.amounts("full_attn_idxs");
  if (types.empty() && listed.empty()) in.missing("layer_types");
  if (!types.empty() && !lists_each_layer(in, "layer_types", types.size(), a)) return;
  for (std::int64_t i = 0; i < listed_layers(a); ++i) {
    const bool attends = types.empty() ? std::find(listed.begin(), listed.end(), i) != listed.end()
                                       : i < static_cast<std::int64_t>(types.size()) &&
                                             types[static_cast<std::size_t>(i)] == "full_attention";
    attends ? layers.mixer(attention) : layers.mixer(recurrent);
  }
}

}  // namespace

/// LFM2: the MLP is two thirds of the width that the config says, rounded up.
void read_lfm2(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a, 8);
  a.intermediate = in.count({"block_ff_dim", "intermediate_size"});
  if (in.flag({"block_auto_adjust_ff_dim"}, true)) {
    const double multiplier = number_of(in.find({"block_ffn_dim_multiplier"})).value_or(1);
    const std::int64_t multiple = in.count_or({"block_multiple_of"}, 256);
    const auto wide =
        static_cast<std::int64_t>(std::clamp(multiplier, 0.0, 1000.0) * as_double(2 * a.intermediate / 3));
    a.intermediate = (wide + multiple - 1) / multiple * multiple;
  }
  LayerList layers;
  read_lfm2_mixers(in, a, layers);
  layers.mlp(a, a.layers);
  layers.into(a);
}

void read_lfm2_moe(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a, 8);
  read_experts(in, a, {"num_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"});
  a.router_bias = in.flag({"use_expert_bias"}, true);
  a.dense_layers = in.amount_or({"num_dense_layers"}, 2);
  if (a.dense_layers > 0) a.intermediate = in.count({"intermediate_size"});
  LayerList layers;
  for (const MlpGroup& group : mlps_of(a)) layers.mlp(group.mlp, group.layers);
  read_lfm2_mixers(in, a, layers);
  layers.into(a);
}

/// RecurrentGemma (Griffin): RG-LRU and windowed attention in turn; `intermediate_size` is gate and up together.
void read_recurrent_gemma(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a);
  a.intermediate = in.count({"intermediate_size"}) / 2;
  a.mlp_bias = true;
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = true;
  a.window = in.count_or({"attention_window_size"}, 2048);
  const Attention attention = a;
  RgLruShape s{.hidden = as_double(a.hidden), .heads = as_double(a.heads)};
  s.width = as_double(in.count_or({"lru_width"}, a.hidden));
  s.kernel = as_double(in.count_or({"conv1d_width"}, 4));
  const Recurrence recurrent = rg_lru(s);
  std::vector<std::string> types = in.texts("block_types");
  if (types.empty()) types = in.texts("_block_types");
  if (types.empty()) types = {"recurrent", "recurrent", "attention"};
  LayerList layers;
  for (std::int64_t i = 0; i < listed_layers(a); ++i) {
    const std::string& type = types[static_cast<std::size_t>(i) % types.size()];
    type == "attention" ? layers.mixer(attention) : layers.mixer(recurrent);
  }
  layers.mlp(a, a.layers);
  layers.into(a);
}

}  // namespace gpuplan
