#include <gpuplan/model/ggml_types.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>

#include <string>
#include <vector>

namespace gpuplan {
namespace {

using T = GgmlType;

// Ids: enum ggml_type of ggml/include/ggml.h (llama.cpp; ids of three digits: ik_llama.cpp). Sizes: the members of the
// block structs of ggml/src/ggml-common.h, spelled out in each line's comment: d, m: half-precision scale and minimum of a
// block. Row scales: row_meta_size in the type traits of ik_llama.cpp's ggml.c.
constexpr GgmlTypeTraits kTypes[] = {
    {T::f32, "F32", 1, 4, 0},
    {T::f16, "F16", 1, 2, 0},
    {T::q4_0, "Q4_0", 32, 18, 0},         // d 2 + 32 * 4 bit
    {T::q4_1, "Q4_1", 32, 20, 0},         // d 2 + m 2 + 32 * 4 bit
    {T::q5_0, "Q5_0", 32, 22, 0},         // d 2 + high bits 4 + 32 * 4 bit
    {T::q5_1, "Q5_1", 32, 24, 0},         // d 2 + m 2 + high bits 4 + 32 * 4 bit
    {T::q8_0, "Q8_0", 32, 34, 0},         // d 2 + 32 * 8 bit
    {T::q8_1, "Q8_1", 32, 36, 0},         // d 2 + sum 2 + 32 * 8 bit
    {T::q2_k, "Q2_K", 256, 84, 0},        // 16 * (4 + 4 bit) scales 16 + 256 * 2 bit + d 2 + m 2
    {T::q3_k, "Q3_K", 256, 110, 0},       // high bits 32 + 256 * 2 bit + 16 * 6 bit scales 12 + d 2
    {T::q4_k, "Q4_K", 256, 144, 0},       // d 2 + m 2 + 16 * 6 bit scales 12 + 256 * 4 bit
    {T::q5_k, "Q5_K", 256, 176, 0},       // Q4_K + high bits 32
    {T::q6_k, "Q6_K", 256, 210, 0},       // 256 * 4 bit + 256 * 2 bit + 16 scales 16 + d 2
    {T::q8_k, "Q8_K", 256, 292, 0},       // d 4 + 256 * 8 bit + 16 sums 32
    {T::iq2_xxs, "IQ2_XXS", 256, 66, 0},  // d 2 + 32 * 16 bit
    {T::iq2_xs, "IQ2_XS", 256, 74, 0},    // d 2 + 32 * 16 bit + scales 8
    {T::iq3_xxs, "IQ3_XXS", 256, 98, 0},  // d 2 + 3 * 256 / 8
    {T::iq1_s, "IQ1_S", 256, 50, 0},      // d 2 + 32 + 8 * 16 bit
    {T::iq4_nl, "IQ4_NL", 32, 18, 0},     // d 2 + 32 * 4 bit
    {T::iq3_s, "IQ3_S", 256, 110, 0},     // d 2 + 64 + high bits 8 + signs 32 + scales 4
    {T::iq2_s, "IQ2_S", 256, 82, 0},      // d 2 + 64 + high bits 8 + scales 8
    {T::iq4_xs, "IQ4_XS", 256, 136, 0},   // d 2 + high scales 2 + scales 4 + 256 * 4 bit
    {T::i8, "I8", 1, 1, 0},
    {T::i16, "I16", 1, 2, 0},
    {T::i32, "I32", 1, 4, 0},
    {T::i64, "I64", 1, 8, 0},
    {T::f64, "F64", 1, 8, 0},
    {T::iq1_m, "IQ1_M", 256, 56, 0},  // 32 + high bits 16 + scales 8
    {T::bf16, "BF16", 1, 2, 0},
    {T::q4_0_4_4, "Q4_0_4_4", 32, 18, 0},  // interleaved Q4_0, no longer written
    {T::q4_0_4_8, "Q4_0_4_8", 32, 18, 0},
    {T::q4_0_8_8, "Q4_0_8_8", 32, 18, 0},
    {T::tq1_0, "TQ1_0", 256, 54, 0},  // 240 ternary digits, five a byte: 48 + 16, four a byte: 4 + d 2
    {T::tq2_0, "TQ2_0", 256, 66, 0},  // 256 * 2 bit + d 2
    {T::mxfp4, "MXFP4", 32, 17, 0},   // exponent 1 + 32 * 4 bit
    {T::nvfp4, "NVFP4", 64, 36, 0},   // 4 scales of 8 bit + 64 * 4 bit
    {T::q1_0, "Q1_0", 128, 18, 0},    // d 2 + 128 * 1 bit
    {T::q2_0, "Q2_0", 64, 18, 0},     // d 2 + 64 * 2 bit

    {T::q6_0, "Q6_0", 32, 26, 0},          // d 2 + 32 * 4 bit + 32 * 2 bit
    {T::iq1_bn, "IQ1_BN", 64, 13, 2},      // 12 + 1, a scale a row
    {T::iq2_bn, "IQ2_BN", 64, 16, 4},      // 64 * 2 bit
    {T::iq2_k, "IQ2_K", 256, 76, 0},       // d 2 + extra 2 + scales 8 + 256 * 2 bit
    {T::iq3_k, "IQ3_K", 256, 110, 0},      // d 2 + extra 2 + high scales 2 + scales 8 + 64 + high bits 32
    {T::iq4_k, "IQ4_K", 256, 144, 0},      // d 2 + extra 2 + scales 4 + 8 + 256 * 4 bit
    {T::iq5_k, "IQ5_K", 256, 176, 0},      // IQ4_K + high bits 32
    {T::iq6_k, "IQ6_K", 256, 212, 0},      // d 2 + extra 2 + scales 16 + 128 + 64
    {T::iq4_ks, "IQ4_KS", 256, 136, 4},    // scales 8 + 256 * 4 bit
    {T::iq2_ks, "IQ2_KS", 256, 70, 2},     // extra 2 + scales 4 + 256 * 2 bit
    {T::iq4_kss, "IQ4_KSS", 256, 128, 4},  // 32 * 32 bit, scales in the spare bits
    {T::q8_kv, "Q8_KV", 32, 32, 8},        // 32 * 8 bit
    {T::iq5_ks, "IQ5_KS", 256, 168, 4},    // IQ4_KS + high bits 32
    {T::iq2_kt, "IQ2_KT", 256, 68, 4},     // scales 4 + 64
    {T::iq3_kt, "IQ3_KT", 256, 100, 4},    // scales 4 + 64 + 32
    {T::iq4_kt, "IQ4_KT", 256, 128, 4},    // 32 * 32 bit
    {T::iq3_ks, "IQ3_KS", 256, 102, 2},    // extra 2 + scales 4 + 64 + high bits 32
    {T::iq2_kl, "IQ2_KL", 256, 86, 2},     // high scales 2 + scales 4 + 64 + high bits 16
    {T::iq1_kt, "IQ1_KT", 256, 56, 4},     // 8 + 32 + 16

    {T::q4_0_r8, "Q4_0_R8", 32, 18, 0},
    {T::q5_0_r4, "Q5_0_R4", 32, 22, 0},
    {T::q8_0_r8, "Q8_0_R8", 32, 34, 0},
    {T::q2_k_r4, "Q2_K_R4", 256, 84, 0},
    {T::q3_k_r4, "Q3_K_R4", 256, 110, 0},
    {T::q4_k_r4, "Q4_K_R4", 256, 144, 0},
    {T::q5_k_r4, "Q5_K_R4", 256, 176, 0},
    {T::q6_k_r4, "Q6_K_R4", 256, 210, 0},
    {T::iq2_xxs_r4, "IQ2_XXS_R4", 256, 66, 0},
    {T::iq2_xs_r4, "IQ2_XS_R4", 256, 74, 0},
    {T::iq3_xxs_r4, "IQ3_XXS_R4", 256, 98, 0},
    {T::iq1_s_r4, "IQ1_S_R4", 32, 6, 2},  // four rows: 16 + 8; a half-precision scale a row
    {T::iq4_nl_r4, "IQ4_NL_R4", 32, 18, 0},
    {T::iq3_s_r4, "IQ3_S_R4", 256, 110, 0},
    {T::iq2_s_r4, "IQ2_S_R4", 256, 82, 0},
    {T::iq4_xs_r8, "IQ4_XS_R8", 256, 136, 0},
    {T::iq1_m_r4, "IQ1_M_R4", 32, 7, 2},  // four rows: 16 + 8 + scales 4
    {T::bf16_r16, "BF16_R16", 1, 2, 0},
    {T::q6_0_r4, "Q6_0_R4", 32, 26, 0},
    {T::iq2_bn_r4, "IQ2_BN_R4", 64, 16, 4},
    {T::iq2_k_r4, "IQ2_K_R4", 256, 76, 0},
    {T::iq3_k_r4, "IQ3_K_R4", 256, 110, 0},
    {T::iq4_k_r4, "IQ4_K_R4", 256, 144, 0},
    {T::iq5_k_r4, "IQ5_K_R4", 256, 176, 0},
    {T::iq4_ks_r4, "IQ4_KS_R4", 256, 136, 4},
    {T::iq5_ks_r4, "IQ5_KS_R4", 256, 168, 4},
    {T::q8_k_r16, "Q8_K_R16", 256, 258, 0},  // d 2 + 256 * 8 bit
    {T::q8_kv_r8, "Q8_KV_R8", 32, 32, 4},
    {T::q8_k_r8, "Q8_K_R8", 256, 258, 0},
};

constexpr bool sorted_by_id() {
  for (std::size_t i = 1; i < std::size(kTypes); ++i) {
    if (kTypes[i - 1].type >= kTypes[i].type) return false;
  }
  return true;
}
static_assert(sorted_by_id());

}  // namespace

std::span<const GgmlTypeTraits> ggml_types() { return kTypes; }

const GgmlTypeTraits* find_ggml_type(std::uint64_t id) {
  for (const GgmlTypeTraits& row : kTypes) {
    if (static_cast<std::uint64_t>(row.type) == id) return &row;
  }
  return nullptr;
}

const GgmlTypeTraits& traits_of(GgmlType type) {
  const GgmlTypeTraits* row = find_ggml_type(static_cast<std::uint64_t>(type));
  GPUPLAN_ASSERT(row != nullptr, "every GGML type has a row in the table");
  return *row;
}

std::string_view to_string(GgmlType type) { return traits_of(type).name; }

Parsed<GgmlType> parse_ggml_type(std::string_view name) {
  std::vector<std::string_view> names;
  for (const GgmlTypeTraits& row : kTypes) {
    if (lookup_key(row.name) == lookup_key(name)) return Parsed<GgmlType>::ok(row.type);
    names.push_back(row.name);
  }
  return Parsed<GgmlType>::fail("unknown GGML type '" + std::string(name) + "'", "a type such as Q4_K, IQ3_S or BF16",
                                nearest_name(name, names), "input.unknown_name");
}

std::int64_t row_size(GgmlType type, std::int64_t elements) {
  const GgmlTypeTraits& t = traits_of(type);
  return t.row_bytes + (elements + t.block - 1) / t.block * t.block_bytes;
}

}  // namespace gpuplan
