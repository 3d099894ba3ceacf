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

/// The spelling of Bamba and its heirs.
Mamba2Shape read_mamba_shape(Fields& in, const Architecture& a) {
  Mamba2Shape s{.hidden = as_double(a.hidden)};
  s.heads = as_double(in.count_or({"mamba_n_heads"}, 128));
  const std::int64_t stated = in.amount_or({"mamba_d_ssm"}, 0);
  const double inner = stated > 0 ? as_double(stated) : as_double(in.count_or({"mamba_expand"}, 2)) * s.hidden;
  const bool automatic = !in.has({"mamba_d_head"}) || in.text({"mamba_d_head"}) == "auto";
  s.head_dim = automatic ? inner / s.heads : as_double(in.count({"mamba_d_head"}));
  s.groups = as_double(in.count_or({"mamba_n_groups"}, 1));
  s.state = as_double(in.count_or({"mamba_d_state"}, 256));
  s.kernel = as_double(in.count_or({"mamba_d_conv"}, 4));
  s.projection_bias = in.flag({"mamba_proj_bias"}, false);
  s.convolution_bias = in.flag({"mamba_conv_bias"}, true);
  return s;
}

void read_attention_biases(Fields& in, Architecture& a) {
  a.qkv_bias = in.flag({"attention_bias"}, false);
  a.output_bias = a.qkv_bias;
}

/// What stands at each place of a Nemotron-H: every layer is one mixer or one MLP.
struct NemotronBlocks {
  Recurrence recurrent;
  Attention attention;
  Mlp plain;
  Mlp experts;
};

NemotronBlocks read_nemotron_blocks(Fields& in, Architecture& a, const std::string& pattern) {
  NemotronBlocks out;
  Mamba2Shape s{.hidden = as_double(a.hidden)};
  s.heads = as_double(in.count({"mamba_num_heads"}));
  s.head_dim = as_double(in.count({"mamba_head_dim"}));
  s.groups = as_double(in.count({"n_groups"}));
  s.state = as_double(in.count({"ssm_state_size"}));
  s.kernel = as_double(in.count_or({"conv_kernel"}, 4));
  s.projection_bias = in.flag({"use_bias"}, false);
  s.convolution_bias = in.flag({"use_conv_bias"}, true);
  out.recurrent = mamba2(s);
  out.attention = a;
  out.plain.gated_mlp = false;
  out.plain.mlp_bias = in.flag({"mlp_bias"}, false);
  if (pattern.find('-') != std::string::npos) out.plain.intermediate = in.count({"intermediate_size"});
  if (pattern.find('E') == std::string::npos) return out;
  out.experts.gated_mlp = false;
  out.experts.experts = in.count({"n_routed_experts"});
  out.experts.experts_per_token = in.count({"num_experts_per_tok"});
  out.experts.expert_intermediate = in.count({"moe_intermediate_size"});
  out.experts.latent_width = in.amount_or({"moe_latent_size"}, 0);
  out.experts.router_bias = true;
  out.experts.shared_experts = in.amount_or({"n_shared_experts"}, 0);
  const std::int64_t shared = out.experts.shared_experts > 0 ? in.count({"moe_shared_expert_intermediate_size"}) : 0;
  out.experts.shared_expert_intermediate = shared * std::min<std::int64_t>(out.experts.shared_experts, 100000);
  return out;
}

/// One letter a layer, also where a config lists words.
std::string nemotron_pattern(Fields& in) {
  std::string pattern = in.text({"hybrid_override_pattern"});
  for (const std::string& word : in.texts("layers_block_type")) {
    pattern += word == "mamba" ? "M" : word == "attention" ? "*" : word == "mlp" ? "-" : word == "moe" ? "E" : "?";
  }
  if (pattern.empty()) in.missing("hybrid_override_pattern");
  return pattern;
}

}  // namespace

/// Nemotron-H and Nemotron 3: M is Mamba-2, * attention, - an MLP, E experts; one norm a layer.
void read_nemotron_h(Fields& in, Architecture& a) {
  const std::string pattern = nemotron_pattern(in);
  a.layers = in.count_or({"num_hidden_layers"}, std::max<std::int64_t>(static_cast<std::int64_t>(pattern.size()), 1));
  a.hidden = in.count({"hidden_size"});
  a.vocab = in.count({"vocab_size"});
  a.max_position = in.amount_or({"max_position_embeddings"}, 0);
  a.heads = in.count({"num_attention_heads"});
  a.kv_heads = in.count_or({"num_key_value_heads"}, a.heads);
  const std::int64_t head_dim = in.count_or({"head_dim", "attention_head_dim"}, 0);
  a.head_dim = head_dim > 0 ? head_dim : divided_head_dim(in, a);
  a.norms_per_layer = 1;
  read_attention_biases(in, a);
  if (in.sound() && static_cast<std::int64_t>(pattern.size()) != a.layers) {
    in.wrong(
        "hybrid_override_pattern",
        "the pattern has " + std::to_string(pattern.size()) + " letters for " + std::to_string(a.layers) + " layers",
        "one letter a layer");
  }
  const NemotronBlocks blocks = read_nemotron_blocks(in, a, pattern);
  LayerList layers;
  for (const char letter : pattern.substr(0, static_cast<std::size_t>(listed_layers(a)))) {
    switch (letter) {
      case 'M':
        layers.mixer(blocks.recurrent);
        break;
      case '*':
        layers.mixer(blocks.attention);
        break;
      case '-':
        layers.mlp(blocks.plain);
        break;
      case 'E':
        layers.mlp(blocks.experts);
        break;
      default:
        in.unreadable(std::string("layers of kind '") + letter + "' (hybrid_override_pattern)");
        return;
    }
  }
  layers.into(a);
}

/// Bamba: Mamba-2 with attention in the listed layers, each with an MLP.
void read_bamba(Fields& in, Architecture& a) {
  read_gated_decoder(in, a, 8);
  read_attention_biases(in, a);
  a.mlp_bias = in.flag({"mlp_bias"}, false);
  const Recurrence recurrent = mamba2(read_mamba_shape(in, a));
  const std::vector<std::int64_t> attends = in.amounts("attn_layer_indices");
  const Attention attention = a;
  LayerList layers;
  for (std::int64_t i = 0; i < listed_layers(a); ++i) {
    const bool listed = std::find(attends.begin(), attends.end(), i) != attends.end();
    listed ? layers.mixer(attention) : layers.mixer(recurrent);
  }
  layers.mlp(a, a.layers);
  layers.into(a);
}

/// Granite 4: as Bamba, with experts beside a shared one, which is alone where there are none.
void read_granite_hybrid(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a);
  read_attention_biases(in, a);
  const Attention attention = a;
  const std::vector<std::string> types =
      in.texts("layer_types").empty() ? in.texts("layers_block_type") : in.texts("layer_types");
  if (types.empty()) in.missing("layer_types");
  Mlp mlp;
  const std::int64_t shared = in.amount_or({"shared_intermediate_size"}, 1024);
  if (in.amount_or({"num_local_experts"}, 0) > 0) {
    mlp.experts = in.count({"num_local_experts"});
    mlp.experts_per_token = in.count({"num_experts_per_tok"});
    mlp.expert_intermediate = in.count({"intermediate_size"});
    mlp.shared_experts = shared > 0 ? 1 : 0;
    mlp.shared_expert_intermediate = shared;
  } else {
    mlp.intermediate = shared;
  }
  const bool recurs = std::find(types.begin(), types.end(), "mamba") != types.end();
  const Recurrence recurrent = recurs ? mamba2(read_mamba_shape(in, a)) : Recurrence{};
  if (!lists_each_layer(in, "layer_types", types.size(), a)) return;
  LayerList layers;
  for (const std::string& type : types) type == "mamba" ? layers.mixer(recurrent) : layers.mixer(attention);
  layers.mlp(mlp, a.layers);
  layers.into(a);
}

/// Falcon-H1: attention and Mamba-2 side by side in every layer.
void read_falcon_h1(Fields& in, Architecture& a) {
  read_gated_decoder(in, a);
  read_attention_biases(in, a);
  a.mlp_bias = in.flag({"mlp_bias"}, false);
  Mamba2Shape s = read_mamba_shape(in, a);
  s.norm = in.flag({"mamba_rms_norm"}, false);
  s.projection_bias = s.projection_bias || in.flag({"projectors_bias"}, false);
  const Attention attention = a;
  LayerList layers;
  layers.mixer(attention, mamba2(s), a.layers);
  layers.mlp(a, a.layers);
  layers.into(a);
}

}  // namespace gpuplan
