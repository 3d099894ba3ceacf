#include "../family.hpp"
#include "common.hpp"
#include "layer_list.hpp"
#include "recurrence.hpp"

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

/// What all versions share: layer norms, one more after the embedding, an MLP of two matrices.
void read_rwkv_shape(Fields& in, Architecture& a, double ratio) {
  read_shape(in, a);
  a.norm = NormKind::layer;
  a.embedding_norm = true;
  a.gated_mlp = false;
  const std::int64_t stated = in.count_or({"intermediate_size"}, 0);
  a.intermediate = stated > 0 ? stated : static_cast<std::int64_t>(ratio * as_double(a.hidden)) / 32 * 32;
}

RwkvShape read_time_mixing(Fields& in, const Architecture& a) {
  RwkvShape s{.hidden = as_double(a.hidden)};
  s.attention = as_double(in.count_or({"attention_hidden_size"}, a.hidden));
  s.head_dim = as_double(in.count_or({"head_size"}, 64));
  return s;
}

void repeat(const Recurrence& mixer, Architecture& a) {
  LayerList layers;
  layers.mixer(mixer, a.layers);
  layers.mlp(a, a.layers);
  layers.into(a);
}

}  // namespace

void read_rwkv4(Fields& in, Architecture& a) {
  read_rwkv_shape(in, a, 4);
  repeat(rwkv4(read_time_mixing(in, a)), a);
}

void read_rwkv5(Fields& in, Architecture& a) {
  read_rwkv_shape(in, a, 3.5);
  repeat(rwkv5(read_time_mixing(in, a)), a);
}

/// The ranks stand in the class: twice as wide at 4096 (Rwkv6SelfAttention).
void read_rwkv6(Fields& in, Architecture& a) {
  if (in.has({"proj_low_rank_dim"})) {
    in.unreadable("RWKV-6 by another class (proj_low_rank_dim)");
    return;
  }
  read_rwkv_shape(in, a, 3.5);
  Rwkv6Shape s{read_time_mixing(in, a)};
  const bool wide = a.hidden == 4096;
  s.mix_rank = wide ? 64 : 32;
  s.decay_rank = wide ? 128 : 64;
  repeat(rwkv6(s), a);
}

void read_rwkv7(Fields& in, Architecture& a) {
  const double ratio = number_of(in.find({"hidden_ratio"})).value_or(4);
  read_rwkv_shape(in, a, ratio >= 0 && ratio <= 1000 ? ratio : 0);
  if (!in.flag({"norm_bias"}, true)) in.unreadable("layer norms without biases (norm_bias)");
  a.embedding_norm = in.flag({"norm_first"}, true);
  Rwkv7Shape s{{.hidden = as_double(a.hidden), .attention = as_double(a.hidden)}};
  s.head_dim = as_double(in.count_or({"head_dim"}, 64));
  s.decay_rank = as_double(in.count({"decay_low_rank_dim"}));
  s.step_rank = as_double(in.count({"a_low_rank_dim"}));
  s.gate_rank = as_double(in.count({"gate_low_rank_dim"}));
  LayerList layers;
  layers.mixer(rwkv7(s));
  s.value_rank = as_double(in.count({"v_low_rank_dim"}));
  layers.mixer(rwkv7(s), a.layers - 1);
  layers.mlp(a, a.layers);
  layers.into(a);
}

}  // namespace gpuplan
