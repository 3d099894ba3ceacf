#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/model/ggml_types.hpp>

#include <string>
#include <vector>

namespace gpuplan {
namespace {

using F = GgmlFileType;
using T = GgmlType;

// Ids: enum llama_ftype of include/llama.h (llama.cpp; of three digits: ik_llama.cpp). The type of most tensors: what
// src/llama-quant.cpp starts from. What a file was repacked from is not recorded; of the K mixes it mostly was the M.
constexpr GgmlFileTypeTraits kFileTypes[] = {
    {F::f32, "F32", F::f32, T::f32},
    {F::f16, "F16", F::f16, T::f16},
    {F::q4_0, "Q4_0", F::q4_0, T::q4_0},
    {F::q4_1, "Q4_1", F::q4_1, T::q4_1},
    {F::q8_0, "Q8_0", F::q8_0, T::q8_0},
    {F::q5_0, "Q5_0", F::q5_0, T::q5_0},
    {F::q5_1, "Q5_1", F::q5_1, T::q5_1},
    {F::q2_k, "Q2_K", F::q2_k, T::q2_k},
    {F::q3_k_s, "Q3_K_S", F::q3_k_s, T::q3_k},
    {F::q3_k_m, "Q3_K_M", F::q3_k_m, T::q3_k},
    {F::q3_k_l, "Q3_K_L", F::q3_k_l, T::q3_k},
    {F::q4_k_s, "Q4_K_S", F::q4_k_s, T::q4_k},
    {F::q4_k_m, "Q4_K_M", F::q4_k_m, T::q4_k},
    {F::q5_k_s, "Q5_K_S", F::q5_k_s, T::q5_k},
    {F::q5_k_m, "Q5_K_M", F::q5_k_m, T::q5_k},
    {F::q6_k, "Q6_K", F::q6_k, T::q6_k},
    {F::iq2_xxs, "IQ2_XXS", F::iq2_xxs, T::iq2_xxs},
    {F::iq2_xs, "IQ2_XS", F::iq2_xs, T::iq2_xs},
    {F::q2_k_s, "Q2_K_S", F::q2_k_s, T::q2_k},
    {F::iq3_xs, "IQ3_XS", F::iq3_xs, T::iq3_s},
    {F::iq3_xxs, "IQ3_XXS", F::iq3_xxs, T::iq3_xxs},
    {F::iq1_s, "IQ1_S", F::iq1_s, T::iq1_s},
    {F::iq4_nl, "IQ4_NL", F::iq4_nl, T::iq4_nl},
    {F::iq3_s, "IQ3_S", F::iq3_s, T::iq3_s},
    {F::iq3_m, "IQ3_M", F::iq3_m, T::iq3_s},
    {F::iq2_s, "IQ2_S", F::iq2_s, T::iq2_xs},
    {F::iq2_m, "IQ2_M", F::iq2_m, T::iq2_s},
    {F::iq4_xs, "IQ4_XS", F::iq4_xs, T::iq4_xs},
    {F::iq1_m, "IQ1_M", F::iq1_m, T::iq1_m},
    {F::bf16, "BF16", F::bf16, T::bf16},
    {F::tq1_0, "TQ1_0", F::tq1_0, T::tq1_0},
    {F::tq2_0, "TQ2_0", F::tq2_0, T::tq2_0},
    {F::mxfp4_moe, "MXFP4_MOE", F::mxfp4_moe, T::mxfp4},
    {F::q6_0, "Q6_0", F::q6_0, T::q6_0},
    {F::iq2_k, "IQ2_K", F::iq2_k, T::iq2_k},
    {F::iq3_k, "IQ3_K", F::iq3_k, T::iq3_k},
    {F::iq4_k, "IQ4_K", F::iq4_k, T::iq4_k},
    {F::iq5_k, "IQ5_K", F::iq5_k, T::iq5_k},
    {F::iq6_k, "IQ6_K", F::iq6_k, T::iq6_k},
    {F::iq4_ks, "IQ4_KS", F::iq4_ks, T::iq4_ks},
    {F::iq3_kl, "IQ3_KL", F::iq3_kl, T::iq3_k},
    {F::iq2_ks, "IQ2_KS", F::iq2_ks, T::iq2_ks},
    {F::iq4_kss, "IQ4_KSS", F::iq4_kss, T::iq4_kss},
    {F::iq5_ks, "IQ5_KS", F::iq5_ks, T::iq5_ks},
    {F::iq3_ks, "IQ3_KS", F::iq3_ks, T::iq3_ks},
    {F::iq2_kl, "IQ2_KL", F::iq2_kl, T::iq2_kl},
    {F::q4_0_r8, "Q4_0_R8", F::q4_0, T::q4_0},
    {F::q8_0_r8, "Q8_0_R8", F::q8_0, T::q8_0},
    {F::q5_0_r4, "Q5_0_R4", F::q5_0, T::q5_0},
    {F::q2_k_r4, "Q2_K_R4", F::q2_k, T::q2_k},
    {F::q3_k_r4, "Q3_K_R4", F::q3_k_m, T::q3_k},
    {F::q4_k_r4, "Q4_K_R4", F::q4_k_m, T::q4_k},
    {F::q5_k_r4, "Q5_K_R4", F::q5_k_m, T::q5_k},
    {F::q6_k_r4, "Q6_K_R4", F::q6_k, T::q6_k},
    {F::iq2_xxs_r4, "IQ2_XXS_R4", F::iq2_xxs, T::iq2_xxs},
    {F::iq2_xs_r4, "IQ2_XS_R4", F::iq2_xs, T::iq2_xs},
    {F::iq3_xxs_r4, "IQ3_XXS_R4", F::iq3_xxs, T::iq3_xxs},
    {F::iq1_s_r4, "IQ1_S_R4", F::iq1_s_r4, T::iq1_s_r4},  // not a repacked IQ1_S: 1.5 bits instead of 1.56
    {F::iq4_nl_r4, "IQ4_NL_R4", F::iq4_nl, T::iq4_nl},
    {F::iq3_s_r4, "IQ3_S_R4", F::iq3_s, T::iq3_s},
    {F::iq2_m_r4, "IQ2_M_R4", F::iq2_m, T::iq2_s},
    {F::iq4_xs_r8, "IQ4_XS_R8", F::iq4_xs, T::iq4_xs},
    {F::iq1_m_r4, "IQ1_M_R4", F::iq1_m_r4, T::iq1_m_r4},
    {F::bf16_r16, "BF16_R16", F::bf16, T::bf16},
    {F::q6_0_r4, "Q6_0_R4", F::q6_0, T::q6_0},
    {F::iq2_k_r4, "IQ2_K_R4", F::iq2_k, T::iq2_k},
    {F::iq3_k_r4, "IQ3_K_R4", F::iq3_k, T::iq3_k},
    {F::iq4_k_r4, "IQ4_K_R4", F::iq4_k, T::iq4_k},
    {F::iq5_k_r4, "IQ5_K_R4", F::iq5_k, T::iq5_k},
    {F::iq4_ks_r4, "IQ4_KS_R4", F::iq4_ks, T::iq4_ks},
    {F::iq5_ks_r4, "IQ5_KS_R4", F::iq5_ks, T::iq5_ks},
    {F::q8_k_r8, "Q8_K_R8", F::q8_k_r8, T::q8_k_r8},
};

}  // namespace

std::span<const GgmlFileTypeTraits> ggml_file_types() { return kFileTypes; }

const GgmlFileTypeTraits* find_ggml_file_type(std::uint64_t id) {
  for (const GgmlFileTypeTraits& row : kFileTypes) {
    if (static_cast<std::uint64_t>(row.type) == id) return &row;
  }
  return nullptr;
}

std::string_view to_string(GgmlFileType type) {
  const GgmlFileTypeTraits* row = find_ggml_file_type(static_cast<std::uint64_t>(type));
  GPUPLAN_ASSERT(row != nullptr, "every GGML file type has a row in the table");
  return row->name;
}

Parsed<GgmlFileType> parse_ggml_file_type(std::string_view name) {
  const std::string key = lookup_key(name);
  std::vector<std::string_view> names;
  for (const GgmlFileTypeTraits& row : kFileTypes) {
    if (lookup_key(row.name) == key) return Parsed<GgmlFileType>::ok(row.type);
    names.push_back(row.name);
  }
  if (key == "q3k" || key == "q4k" || key == "q5k") return parse_ggml_file_type(key + "m");
  return Parsed<GgmlFileType>::fail("unknown GGUF file type '" + std::string(name) + "'",
                                    "a file type such as Q4_K_M, Q8_0 or IQ3_XXS", nearest_name(name, names),
                                    "input.unknown_name");
}

}  // namespace gpuplan
