#include <gpuplan/model/ggml_types.hpp>

#include <gpuplan/base/error.hpp>

// Facts from llama.cpp's src/llama-quant.cpp (llama_tensor_get_type and its fallbacks) and, for the types with ids of three
// digits, ik_llama.cpp's src/llama-quantize.cpp. Both were checked against published files, see ggml_types_test.cpp.
namespace gpuplan {
namespace {

using F = GgmlFileType;
using T = GgmlType;
using K = GgufTensorKind;

template <class... Types>
constexpr bool one_of(F value, Types... list) {
  return ((value == list) || ...);
}
bool is_ik(F rules) { return static_cast<int>(rules) >= 133; }
bool is_one_or_two_bits(F rules) {
  return one_of(rules, F::iq1_s, F::iq1_m, F::iq2_xxs, F::iq2_xs, F::iq2_s, F::iq2_m, F::iq2_ks);
}
bool is_iq2_s_or_m(F rules) { return one_of(rules, F::iq2_s, F::iq2_m); }
bool is_one_bit_r4(F rules) { return one_of(rules, F::iq1_s_r4, F::iq1_m_r4); }

/// The first and the last eighth of the layers and every third between: where errors cost most.
bool needs_more_bits(std::int64_t layer, std::int64_t layers) {
  const std::int64_t eighth = layers / 8;
  return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
}
bool in_first_eighth(std::int64_t layer, const MixModel& m) { return layer < m.layers / 8; }

T output_type(F rules, T base, std::int64_t columns, const MixModel& m) {
  if (rules == F::mxfp4_moe || m.falcon || columns % traits_of(base).block != 0) return T::q8_0;
  if (one_of(rules, F::iq2_k, F::iq3_k, F::iq2_ks, F::iq3_ks, F::iq2_kl, F::iq1_s_r4, F::iq1_m_r4)) {
    return m.tied_embeddings ? T::iq4_k : T::q5_k;
  }
  if (m.tied_embeddings && one_of(rules, F::iq3_kl, F::iq4_ks, F::iq4_kss)) return T::iq5_k;
  if (is_one_or_two_bits(rules) || rules == F::iq3_xxs) return T::q5_k;
  return base == T::q8_0 || base == T::iq6_k || base == T::q8_k_r8 ? base : T::q6_k;
}

T embedding_type(F rules, T base) {
  if (one_of(rules, F::iq1_s, F::iq1_m, F::iq2_xxs, F::iq2_xs, F::iq1_s_r4, F::iq1_m_r4)) return T::q2_k;
  if (is_iq2_s_or_m(rules) || rules == F::iq3_xxs) return T::iq3_s;
  if (one_of(rules, F::tq1_0, F::tq2_0)) return T::q4_k;
  if (rules == F::mxfp4_moe) return T::q8_0;
  return base == T::q8_k_r8 ? T::q8_0 : base;  // rows of an embedding are looked up one by one: no interleaving
}

T value_type_of_ik(F rules, T base, const MixModel& m) {
  if (m.experts >= 4) return T::q8_0;
  if (m.heads_per_kv_head < 2) return base;
  if (one_of(rules, F::iq2_k, F::iq3_k)) return T::iq4_k;
  if (one_of(rules, F::iq3_kl, F::iq4_k, F::iq4_ks, F::iq4_kss)) return T::iq5_k;
  if (one_of(rules, F::iq3_ks, F::iq2_kl)) return T::iq4_ks;
  return base;
}

T value_type_by_rules(F rules, T base, std::int64_t layer, const MixModel& m) {
  const bool shared = m.heads_per_kv_head >= 4;
  switch (rules) {
    case F::q2_k:
      return shared ? T::q4_k : T::q3_k;
    case F::iq3_xxs:
      return shared ? T::q4_k : m.importance_matrix ? T::iq3_xxs : T::iq3_s;
    case F::q2_k_s:
    case F::iq3_xs:
    case F::iq3_s:
      return shared ? T::q4_k : base;
    case F::iq3_m:
      return T::q4_k;
    case F::q3_k_m:
      return layer < 2 ? T::q5_k : T::q4_k;
    case F::q3_k_l:
      return T::q5_k;
    case F::iq4_nl:
    case F::iq4_xs:
      return shared ? T::q5_k : base;
    case F::q4_k_s:
      return layer < 4 ? T::q5_k : base;
    case F::q4_k_m:
    case F::q5_k_m:
      return needs_more_bits(layer, m.layers) ? T::q6_k : base;
    default:
      return base;
  }
}

T value_type(F rules, T base, std::int64_t layer, const MixModel& m) {
  if (is_one_bit_r4(rules)) {
    return m.experts >= 4 || m.heads_per_kv_head >= 4 ? T::iq4_k : m.heads_per_kv_head >= 2 ? T::iq3_k : T::q2_k;
  }
  if (is_one_or_two_bits(rules)) {
    if (m.heads_per_kv_head >= 4 || m.experts >= 4) return rules == F::iq2_ks ? T::iq4_k : T::q4_k;
    return is_iq2_s_or_m(rules) ? T::iq3_s : T::q2_k;
  }
  if (is_ik(rules)) return value_type_of_ik(rules, base, m);
  if (m.experts == 8) return T::q8_0;
  const T type = value_type_by_rules(rules, base, layer, m);
  // A "70B": 80 layers whose eight KV heads make this tensor small.
  const bool is_70b = m.layers == 80 && m.experts == 0 && m.heads_per_kv_head > 1;
  return is_70b && (type == T::q3_k || type == T::q4_k) ? T::q5_k : type;
}

/// As when most files of models with fused projections were made; newer versions treat them as values.
T fused_type(F rules, T base) {
  if (one_of(rules, F::q3_k_m, F::q3_k_l, F::iq3_m)) return T::q4_k;
  return rules == F::q4_k_m ? T::q5_k : rules == F::q5_k_m ? T::q6_k : base;
}

T key_type(F rules, T base, const MixModel& m) {
  if (is_one_bit_r4(rules) || rules == F::iq2_ks) return m.experts >= 8 ? T::q4_k : base;
  if (is_one_or_two_bits(rules)) return m.experts == 8 ? T::q4_k : base;
  if (is_ik(rules) ? m.experts >= 4 : m.experts == 8) return T::q8_0;
  return rules == F::iq3_xs ? T::iq3_xxs : rules == F::iq3_xxs ? T::iq2_s : base;
}

T query_type(F rules, T base, const MixModel& m) {
  if (is_one_bit_r4(rules) || rules == F::iq2_ks) return m.experts >= 8 ? T::q4_k : base;
  return rules == F::iq3_xs ? T::iq3_xxs : rules == F::iq3_xxs ? T::iq2_s : base;
}

T attention_output_type(F rules, T base, const MixModel& m) {
  if (m.falcon) return rules == F::q3_k_l ? T::q4_k : base;
  if (is_one_bit_r4(rules)) return m.experts >= 4 ? T::q5_k : T::iq2_k;
  if (is_ik(rules)) {
    const bool raised = !one_of(rules, F::q6_0, F::iq5_k, F::iq6_k, F::q8_k_r8);
    if (m.experts >= 4) return rules == F::iq2_kl ? T::iq4_ks : raised ? T::q5_k : base;
    return rules == F::iq2_k ? T::iq3_k : rules == F::iq3_kl ? T::iq4_ks : base;
  }
  if (m.experts == 8) {
    const bool raised =
        is_one_or_two_bits(rules) || one_of(rules, F::q2_k, F::iq3_xs, F::iq3_xxs, F::q3_k_s, F::q3_k_m, F::iq4_nl,
                                            F::q4_k_s, F::q4_k_m, F::iq3_s, F::iq3_m, F::iq4_xs);
    return raised ? T::q5_k : base;
  }
  switch (rules) {
    case F::q2_k:
      return T::q3_k;
    case F::q3_k_m:
    case F::iq3_m:
      return T::q4_k;
    case F::q3_k_l:
      return T::q5_k;
    case F::iq1_s:
    case F::iq1_m:
      return T::iq2_xxs;
    case F::iq2_s:
    case F::iq2_m:
    case F::iq3_xxs:
      return T::iq3_s;
    default:
      return base;
  }
}

T down_type_of_falcon(F rules, T base, std::int64_t layer, const MixModel& m) {
  const bool more = needs_more_bits(layer, m.layers);
  const bool first = layer < m.layers / 16;
  switch (rules) {
    case F::q2_k:
      return T::q3_k;
    case F::q3_k_m:
      return first ? T::q5_k : more ? T::q4_k : T::q3_k;
    case F::q3_k_l:
      return T::q4_k;
    case F::q4_k_m:
      return first ? T::q6_k : more ? T::q5_k : T::q4_k;
    case F::q5_k_m:
      return more ? T::q6_k : base;
    default:
      return base;
  }
}

T down_type(F rules, T base, const MixTensor& t, const MixModel& m) {
  if (m.falcon) return down_type_of_falcon(rules, base, t.layer, m);
  const bool first = in_first_eighth(t.layer, m);
  const bool more = needs_more_bits(t.layer, m.layers);
  if (is_one_bit_r4(rules)) {
    if (t.shared_expert) return T::iq4_k;
    if (m.experts >= 8 && t.layer == 0) return T::iq3_k;
    return first ? T::q2_k : base;
  }
  if (is_one_or_two_bits(rules)) {  // counts tensors, not layers
    return t.order < m.layers / 8 ? (is_iq2_s_or_m(rules) ? T::iq3_s : T::q2_k) : base;
  }
  switch (rules) {
    case F::q2_k:
      return T::q3_k;
    case F::q2_k_s:
      return first ? T::q4_k : base;
    case F::iq3_xxs:
      return m.importance_matrix ? base : first ? T::q4_k : T::q3_k;
    case F::q3_k_m:
      return t.layer < m.layers / 16 ? T::q5_k : T::q4_k;
    case F::iq3_m:
      return first || (m.experts == 8 && more) ? T::q4_k : base;
    case F::q3_k_l:
      return T::q5_k;
    case F::q4_k_s:
      return first ? T::q5_k : base;
    case F::q4_k_m:
    case F::q5_k_m:
      return more ? T::q6_k : base;
    case F::iq3_kl:
      return more ? T::iq4_ks : T::iq3_k;
    case F::iq4_nl:
    case F::iq4_xs:
    case F::iq4_ks:
    case F::iq4_kss:
      return first && !m.importance_matrix ? T::q5_k : base;
    // Q4_1 and Q5_1 guard the first layers against what an importance matrix can do to them.
    case F::q4_0:
      return first && m.importance_matrix ? T::q4_1 : base;
    case F::q5_0:
      return first && m.importance_matrix ? T::q5_1 : base;
    default:
      return base;
  }
}

T up_type(F rules, T base, const MixTensor& t, const MixModel& m) {
  if (is_one_bit_r4(rules)) {
    if (t.shared_expert) return T::iq4_k;
    return m.experts >= 8 && t.layer == 0 ? T::iq3_k : base;
  }
  if (rules == F::iq3_kl && needs_more_bits(t.layer, m.layers)) return T::iq4_ks;
  const bool middle = !in_first_eighth(t.layer, m) && t.layer < 7 * m.layers / 8;
  return rules == F::iq3_xs && middle ? T::iq3_xxs : base;
}

T type_by_kind(F rules, T base, const MixTensor& t, const MixModel& m) {
  if (t.kind == K::output || (t.kind == K::token_embedding && m.tied_embeddings)) {
    return output_type(rules, base, t.columns, m);
  }
  if (t.kind == K::token_embedding) return embedding_type(rules, base);
  if (rules == F::mxfp4_moe) return t.expert ? T::mxfp4 : T::q8_0;
  switch (t.kind) {
    case K::attention_v:
      return value_type(rules, base, t.layer, m);
    case K::attention_qkv:
      return fused_type(rules, base);
    case K::attention_k:
      return key_type(rules, base, m);
    case K::attention_q:
      return query_type(rules, base, m);
    // ik_llama.cpp looks for attn_q and attn_k anywhere in the name, llama.cpp for the whole name.
    case K::latent_q:
      return is_ik(rules) ? query_type(rules, base, m) : base;
    case K::latent_kv:
      return is_ik(rules) ? key_type(rules, base, m) : base;
    case K::attention_output:
      return attention_output_type(rules, base, m);
    case K::ffn_down:
      return down_type(rules, base, t, m);
    case K::ffn_up:
      return up_type(rules, base, t, m);
    default:
      return base;
  }
}

/// What stands in when a row does not have whole blocks of `type`.
T fallback(T type, std::int64_t columns) {
  if (columns % traits_of(type).block == 0) return type;
  T other = T::f16;
  switch (type) {
    case T::q2_k:
    case T::q3_k:
    case T::tq1_0:
    case T::tq2_0:
      other = T::q4_0;
      break;
    case T::q4_k:
    case T::iq4_k:
    case T::iq5_ks:
      other = T::q5_0;
      break;
    case T::q5_k:
      other = T::q5_1;
      break;
    case T::iq5_k:
      other = T::q6_0;
      break;
    case T::q6_k:
    case T::iq6_k:
    case T::q8_k_r8:
      other = T::q8_0;
      break;
    default:
      other = traits_of(type).block == 256 ? T::iq4_nl : T::f16;
      break;
  }
  return columns % traits_of(other).block == 0 ? other : T::f16;
}

}  // namespace

GgmlType mix_type(GgmlFileType file_type, const MixTensor& tensor, const MixModel& model) {
  const GgmlFileTypeTraits* row = find_ggml_file_type(static_cast<std::uint64_t>(file_type));
  GPUPLAN_ASSERT(row != nullptr, "every GGML file type has a row in the table");
  if (tensor.kind == K::unquantized) return T::f32;
  if (traits_of(row->base).block == 1) return row->base;
  return fallback(type_by_kind(row->rules, row->base, tensor, model), tensor.columns);
}

}  // namespace gpuplan
