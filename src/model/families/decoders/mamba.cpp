#include "../family.hpp"
#include "common.hpp"
#include "layer_list.hpp"
#include "recurrence.hpp"

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

/// `auto` and nothing mean a sixteenth of the hidden size, rounded up.
double step_rank(Fields& in, std::string_view key, const Architecture& a) {
  const bool automatic = !in.has({key}) || in.text({key}) == "auto";
  return as_double(automatic ? (a.hidden + 15) / 16 : in.count({key}));
}

void repeat(const Recurrence& mixer, Architecture& a) {
  LayerList layers;
  layers.mixer(mixer, a.layers);
  layers.into(a);
  a.norms_per_layer = 1;
}

void read_state_spaces_layer(Fields in, Architecture& a) {
  const double inner = as_double(in.count_or({"expand"}, 2)) * as_double(a.hidden);
  const double kernel = as_double(in.count_or({"d_conv"}, 4));
  if (in.text({"layer"}) == "Mamba2") {
    Mamba2Shape s{.hidden = as_double(a.hidden), .kernel = kernel};
    s.head_dim = as_double(in.count_or({"headdim"}, 64));
    s.heads = inner / s.head_dim;
    s.groups = as_double(in.count_or({"ngroups"}, 1));
    s.state = as_double(in.count_or({"d_state"}, 128));
    repeat(mamba2(s), a);
  } else {
    MambaShape s{.hidden = as_double(a.hidden), .inner = inner, .kernel = kernel};
    s.state = as_double(in.count_or({"d_state"}, 16));
    s.rank = step_rank(in, "dt_rank", a);
    repeat(mamba(s), a);
  }
}

}  // namespace

/// The format of the state-spaces project: it names no type, `ssm_cfg` holds what differs from the layer's defaults, and the
/// vocabulary is padded.
void read_state_spaces(Fields& in, Architecture& a) {
  a.layers = in.count({"n_layer"});
  a.hidden = in.count({"d_model"});
  const std::int64_t padding = in.count_or({"pad_vocab_size_multiple"}, 8);
  a.vocab = (in.count({"vocab_size"}) + padding - 1) / padding * padding;
  if (!in.flag({"rms_norm"}, true)) a.norm = NormKind::layer;
  if (!in.flag({"tie_embeddings"}, true)) in.unreadable("an output head of its own (tie_embeddings)");
  if (in.amount_or({"d_intermediate"}, 0) > 0) in.unreadable("MLPs between the state-space layers (d_intermediate)");
  if (const Node* attention = in.find({"attn_layer_idx"}); attention && !attention->items.empty())
    in.unreadable("attention between the state-space layers (attn_layer_idx)");
  if (const Node* layer = in.find({"ssm_cfg"})) read_state_spaces_layer(in.inside(*layer), a);
}

void read_mamba(Fields& in, Architecture& a) {
  read_shape(in, a);
  MambaShape s{.hidden = as_double(a.hidden)};
  const std::int64_t inner = in.count_or({"intermediate_size", "d_inner"}, 0);
  s.inner = inner > 0 ? as_double(inner) : as_double(in.count_or({"expand"}, 2)) * s.hidden;
  s.state = as_double(in.count_or({"state_size"}, 16));
  s.rank = step_rank(in, "time_step_rank", a);
  s.kernel = as_double(in.count_or({"conv_kernel"}, 4));
  s.projection_bias = in.flag({"use_bias"}, false);
  s.convolution_bias = in.flag({"use_conv_bias"}, true);
  repeat(mamba(s), a);
}

void read_mamba2(Fields& in, Architecture& a) {
  read_shape(in, a);
  Mamba2Shape s{.hidden = as_double(a.hidden)};
  s.heads = as_double(in.count_or({"num_heads"}, 128));
  s.head_dim = as_double(in.count_or({"head_dim"}, 64));
  s.groups = as_double(in.count_or({"n_groups"}, 8));
  s.state = as_double(in.count_or({"state_size"}, 128));
  s.kernel = as_double(in.count_or({"conv_kernel"}, 4));
  s.projection_bias = in.flag({"use_bias"}, false);
  s.convolution_bias = in.flag({"use_conv_bias"}, true);
  repeat(mamba2(s), a);
}

/// Jamba: attention in every `attn_layer_period`-th layer, experts in every `expert_layer_period`-th.
void read_jamba(Fields& in, Architecture& a) {
  read_shape(in, a);
  read_heads(in, a, 8);
  MambaShape s{.hidden = as_double(a.hidden), .norms = true};
  s.inner = as_double(in.count_or({"mamba_expand"}, 2)) * s.hidden;
  s.state = as_double(in.count_or({"mamba_d_state"}, 16));
  s.rank = step_rank(in, "mamba_dt_rank", a);
  s.kernel = as_double(in.count_or({"mamba_d_conv"}, 4));
  s.projection_bias = in.flag({"mamba_proj_bias"}, false);
  s.convolution_bias = in.flag({"mamba_conv_bias"}, true);
  const Recurrence recurrent = mamba(s);
  Mlp plain;
  plain.intermediate = in.count({"intermediate_size"});
  Mlp experts = plain;
  experts.experts = in.count_or({"num_experts"}, 16);
  experts.experts_per_token = in.count_or({"num_experts_per_tok"}, 2);
  experts.expert_intermediate = plain.intermediate;
  const std::int64_t attention_period = in.count_or({"attn_layer_period"}, 8);
  const std::int64_t attention_offset = in.amount_or({"attn_layer_offset"}, 4);
  const std::int64_t expert_period = in.count_or({"expert_layer_period"}, 2);
  const std::int64_t expert_offset = in.amount_or({"expert_layer_offset"}, 1);
  const Attention attention = a;
  LayerList layers;
  for (std::int64_t i = 0; i < listed_layers(a); ++i) {
    const bool attends = i % attention_period == attention_offset;
    attends ? layers.mixer(attention) : layers.mixer(recurrent);
    layers.mlp(experts.experts > 1 && i % expert_period == expert_offset ? experts : plain);
  }
  layers.into(a);
}

}  // namespace gpuplan
