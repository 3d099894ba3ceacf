#pragma once
/// GGML's tensor types with their exact block sizes, and the mixes that llama.cpp calls file types.
///
///     find_ggml_type(12)->name                                        // Q4_K
///     row_size(GgmlType::q4_k, 4096)                                  // 2304 = 4096 / 256 * 144
///     gguf_file_bytes(architecture, tensors, GgmlFileType::q4_k_m)    // before anybody has made the file
///
/// A row (the first dimension) is stored in whole blocks; some types of ik_llama.cpp add a scale a row. The types' sources
/// stand beside the table in ggml_types.cpp, those of the mixes in ggml_mix.cpp.

#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/model/architecture.hpp>
#include <gpuplan/model/tensors.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace gpuplan {

/// The numbers are those in files. Ids from 97 on are ik_llama.cpp's; `_r4`, `_r8` and `_r16` interleave so many rows.
// clang-format off
enum class GgmlType : std::uint16_t {
  f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q5_0 = 6, q5_1 = 7, q8_0 = 8, q8_1 = 9, q2_k = 10, q3_k = 11, q4_k = 12,
  q5_k = 13, q6_k = 14, q8_k = 15, iq2_xxs = 16, iq2_xs = 17, iq3_xxs = 18, iq1_s = 19, iq4_nl = 20, iq3_s = 21,
  iq2_s = 22, iq4_xs = 23, i8 = 24, i16 = 25, i32 = 26, i64 = 27, f64 = 28, iq1_m = 29, bf16 = 30, q4_0_4_4 = 31,
  q4_0_4_8 = 32, q4_0_8_8 = 33, tq1_0 = 34, tq2_0 = 35, mxfp4 = 39, nvfp4 = 40, q1_0 = 41, q2_0 = 42,
  q6_0 = 133, iq1_bn = 134, iq2_bn = 135, iq2_k = 137, iq3_k = 138, iq4_k = 139, iq5_k = 140, iq6_k = 141,
  iq4_ks = 144, iq2_ks = 145, iq4_kss = 146, q8_kv = 151, iq5_ks = 152, iq2_kt = 153, iq3_kt = 154, iq4_kt = 155,
  iq3_ks = 156, iq2_kl = 157, iq1_kt = 158,
  q4_0_r8 = 202, q5_0_r4 = 206, q8_0_r8 = 208, q2_k_r4 = 210, q3_k_r4 = 211, q4_k_r4 = 212, q5_k_r4 = 213,
  q6_k_r4 = 214, iq2_xxs_r4 = 216, iq2_xs_r4 = 217, iq3_xxs_r4 = 218, iq1_s_r4 = 219, iq4_nl_r4 = 220,
  iq3_s_r4 = 221, iq2_s_r4 = 222, iq4_xs_r8 = 223, iq1_m_r4 = 229, bf16_r16 = 230, q6_0_r4 = 233,
  iq2_bn_r4 = 335, iq2_k_r4 = 337, iq3_k_r4 = 338, iq4_k_r4 = 339, iq5_k_r4 = 340, iq4_ks_r4 = 344,
  iq5_ks_r4 = 352, q8_k_r16 = 397, q8_kv_r8 = 398, q8_k_r8 = 399,
};
// clang-format on

struct GgmlTypeTraits {
  GgmlType type = GgmlType::f32;
  std::string_view name;   ///< as files and tools write it: `Q4_K`
  std::int64_t block = 1;  ///< elements a block; a row has whole blocks
  std::int64_t block_bytes = 4;
  std::int64_t row_bytes = 0;                               ///< in front of each row's blocks
  [[nodiscard]] constexpr double bits_per_weight() const {  ///< without `row_bytes`
    return 8.0 * static_cast<double>(block_bytes) / static_cast<double>(block);
  }
};

std::span<const GgmlTypeTraits> ggml_types();
/// Null when the id is not known.
const GgmlTypeTraits* find_ggml_type(std::uint64_t id);
const GgmlTypeTraits& traits_of(GgmlType type);
std::string_view to_string(GgmlType type);
Parsed<GgmlType> parse_ggml_type(std::string_view name);

/// Bytes of a row of `elements`, rounded up to whole blocks.
std::int64_t row_size(GgmlType type, std::int64_t elements);

/// What `general.file_type` says and people call the quantization; the numbers are those in files.
// clang-format off
enum class GgmlFileType : std::uint16_t {
  f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q8_0 = 7, q5_0 = 8, q5_1 = 9, q2_k = 10, q3_k_s = 11, q3_k_m = 12, q3_k_l = 13,
  q4_k_s = 14, q4_k_m = 15, q5_k_s = 16, q5_k_m = 17, q6_k = 18, iq2_xxs = 19, iq2_xs = 20, q2_k_s = 21, iq3_xs = 22,
  iq3_xxs = 23, iq1_s = 24, iq4_nl = 25, iq3_s = 26, iq3_m = 27, iq2_s = 28, iq2_m = 29, iq4_xs = 30, iq1_m = 31,
  bf16 = 32, tq1_0 = 36, tq2_0 = 37, mxfp4_moe = 38,
  q6_0 = 135, iq2_k = 138, iq3_k = 139, iq4_k = 140, iq5_k = 141, iq6_k = 142, iq4_ks = 145, iq3_kl = 146,
  iq2_ks = 147, iq4_kss = 148, iq5_ks = 150, iq3_ks = 154, iq2_kl = 155,
  q4_0_r8 = 202, q8_0_r8 = 207, q5_0_r4 = 208, q2_k_r4 = 210, q3_k_r4 = 211, q4_k_r4 = 214, q5_k_r4 = 216,
  q6_k_r4 = 218, iq2_xxs_r4 = 219, iq2_xs_r4 = 220, iq3_xxs_r4 = 223, iq1_s_r4 = 224, iq4_nl_r4 = 225,
  iq3_s_r4 = 226, iq2_m_r4 = 229, iq4_xs_r8 = 230, iq1_m_r4 = 231, bf16_r16 = 232, q6_0_r4 = 335, iq2_k_r4 = 338,
  iq3_k_r4 = 339, iq4_k_r4 = 340, iq5_k_r4 = 341, iq4_ks_r4 = 345, iq5_ks_r4 = 350, q8_k_r8 = 399,
};
// clang-format on

struct GgmlFileTypeTraits {
  GgmlFileType type = GgmlFileType::f32;
  std::string_view name;  ///< `Q4_K_M`
  GgmlFileType rules;     ///< a repacked type has the sizes of what it was made from
  GgmlType base;          ///< most tensors
};
std::span<const GgmlFileTypeTraits> ggml_file_types();
const GgmlFileTypeTraits* find_ggml_file_type(std::uint64_t id);  ///< null when not known
std::string_view to_string(GgmlFileType type);
/// `Q4_K_M`, also `Q4_K` for it, without regard to case, '-' and '_'.
Parsed<GgmlFileType> parse_ggml_file_type(std::string_view name);

/// What a tensor is to the mixes, by its name in GGUF.
enum class GgufTensorKind : std::uint8_t {
  token_embedding,
  output,
  attention_q,
  attention_k,
  attention_v,
  attention_qkv,
  attention_output,
  latent_q,   ///< attn_q_a, attn_q_b
  latent_kv,  ///< attn_kv_a_mqa, attn_k_b
  latent_v,   ///< attn_v_b
  ffn_up,     ///< also ffn_gate: the rules are the same
  ffn_down,
  unquantized,  ///< norms, biases, routers, positions: F32
};

struct MixTensor {
  GgufTensorKind kind = GgufTensorKind::ffn_up;
  std::int64_t layer = 0;  ///< from 0
  std::int64_t order = 0;  ///< among the file's tensors of its kind, from 0; with shared experts there are two a layer
  std::int64_t columns = 0;  ///< inputs; a row must have whole blocks, else a type of smaller blocks stands in
  bool expert = false;       ///< routed; its tensors hold all experts of a layer
  bool shared_expert = false;
};
struct MixModel {
  std::int64_t layers = 0;
  std::int64_t experts = 0;
  std::int64_t heads_per_kv_head = 1;
  bool tied_embeddings = false;
  bool falcon = false;
  bool importance_matrix = true;  ///< published files of this kind mostly have one
};
MixModel mix_model(const Architecture& architecture);

/// The type llama.cpp's quantizer (for ik_llama.cpp's types: its own) gives a tensor.
GgmlType mix_type(GgmlFileType file_type, const MixTensor& tensor, const MixModel& model);

/// Bytes of a group of tensors in a GGUF file of this mix, with their padding.
Bytes gguf_group_bytes(const Architecture& architecture, const TensorGroup& group, GgmlFileType file_type);
/// The same when all matrices have one type.
Bytes gguf_group_bytes(const Architecture& architecture, const TensorGroup& group, GgmlType type);
/// An estimate of a file's metadata, which is mostly the vocabulary (48 bytes a token).
Bytes gguf_metadata_bytes(const Architecture& architecture, std::span<const TensorGroup> tensors);

/// Bytes of a GGUF file of this mix: tensors and metadata.
Bytes gguf_file_bytes(const Architecture& architecture, std::span<const TensorGroup> tensors, GgmlFileType file_type);
/// Bytes of a mix of somebody's own, known by its average.
Bytes gguf_file_bytes(std::span<const TensorGroup> tensors, double bits_per_weight);

}  // namespace gpuplan
