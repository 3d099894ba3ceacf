#include <gpuplan/model/scheme.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

using Names = std::string_view[];

constexpr Storage kFp32{.bits = 32};
constexpr Storage k16Bit{.bits = 16};
// A scale for the weight and one for the activations, each in fp32 (ModelOpt, compressed-tensors).
constexpr Storage kFp8Tensor{.bits = 8, .tensor_scale_bits = 64};
constexpr Storage kFp8Block{.bits = 8, .group = 128, .scale_bits = 32, .block_rows = 128};  // arXiv:2412.19437, 3.3.2
constexpr Storage kInt8Row{.bits = 8, .row_scale_bits = 32};                                // arXiv:2208.07339
// A 16-bit scale and a packed 4-bit zero-point a group of 128: 4.15625 bits. arXiv:2306.00978
constexpr Storage kInt4Group128{.bits = 4, .group = 128, .scale_bits = 16, .zero_bits = 4};
// The same and the group of each input as int32 (`g_idx`), which checkpoints hold even without act-order.
constexpr Storage kInt4Gptq128{.bits = 4, .group = 128, .scale_bits = 16, .zero_bits = 4, .column_bits = 32};
// arXiv:2305.14314: blocks of 64, their fp32 constants themselves in 8 bits with an fp32 constant per 256: 4.127 bits.
constexpr Storage kNf4Double{.bits = 4, .group = 64, .scale_bits = 8 + 32.0 / 256};
constexpr Storage kNf4Single{.bits = 4, .group = 64, .scale_bits = 32};
constexpr Storage kMxfp4{
    .bits = 4, .group = 32, .scale_bits = 8};  // OCP Microscaling Formats 1.0: an E8M0 scale per 32
// An E4M3 scale per 16, and fp32 scales of the weight and of the activations a tensor.
constexpr Storage kNvfp4{.bits = 4, .group = 16, .scale_bits = 8, .tensor_scale_bits = 64};

constexpr Names kFp32Names = {"float32", "32bit"};
constexpr Names kBf16Names = {"16bit", "bfloat16", "fp16_or_bf16"};
constexpr Names kFp16Names = {"half", "float16"};
constexpr Names kFp8Names = {"e4m3", "fp8-e4m3", "float8"};
constexpr Names kFp8BlockNames = {"fp8-block128", "fp8-128x128"};
constexpr Names kInt8Names = {"w8a8", "int8-w8a8", "smoothquant"};
constexpr Names kInt8OnlyNames = {"w8a16", "bnb-8bit"};
constexpr Names kAwqNames = {"int4", "awq", "w4a16", "int4-g128"};
constexpr Names kGptqNames = {"gptq"};
constexpr Names kNf4Names = {"nf4-dq", "bnb-4bit", "qlora"};
constexpr Names kNf4SingleNames = {"nf4-single"};
constexpr Names kMxfp4Names = {"mxfp4-moe"};
constexpr Names kNvfp4Names = {"fp4"};

constexpr Scheme kSchemes[] = {
    {"fp32", kFp32Names, "single precision", kFp32, kFp32, false, Arithmetic::fp32, false},
    {"bf16", kBf16Names, "16 bit, bfloat16", k16Bit, k16Bit, false, Arithmetic::bf16, false},
    {"fp16", kFp16Names, "16 bit, half precision", k16Bit, k16Bit, false, Arithmetic::fp16, false},
    {"fp8", kFp8Names, "FP8 E4M3 linears with a scale a tensor", kFp8Tensor, k16Bit, false, Arithmetic::fp8, false},
    {"fp8-block", kFp8BlockNames, "FP8 E4M3 linears with a scale per 128 x 128 block", kFp8Block, k16Bit, false,
     Arithmetic::fp8, false},
    {"int8", kInt8Names, "INT8 weights and activations, a scale a channel", kInt8Row, k16Bit, false, Arithmetic::int8,
     false},
    {"int8-wo", kInt8OnlyNames, "INT8 weights only, a scale a channel", kInt8Row, k16Bit, false, Arithmetic::bf16,
     true},
    {"int4-awq-g128", kAwqNames, "AWQ INT4 weights in groups of 128", kInt4Group128, k16Bit, false, Arithmetic::bf16,
     true},
    {"int4-gptq-g128", kGptqNames, "GPTQ INT4 weights in groups of 128", kInt4Gptq128, k16Bit, false, Arithmetic::bf16,
     true},
    {"nf4", kNf4Names, "NF4 weights with double quantization", kNf4Double, k16Bit, false, Arithmetic::bf16, true},
    {"nf4-sq", kNf4SingleNames, "NF4 weights with single quantization", kNf4Single, k16Bit, false, Arithmetic::bf16,
     true},
    {"mxfp4", kMxfp4Names, "MXFP4 experts, the rest in 16 bit", kMxfp4, k16Bit, true, Arithmetic::bf16, true},
    {"nvfp4", kNvfp4Names, "NVFP4 weights and activations", kNvfp4, k16Bit, false, Arithmetic::fp4, false},
};

constexpr Names kKvFp32Names = {"float32"};
constexpr Names kKvBf16Names = {"fp16", "auto", "auto16", "16bit", "bfloat16", "float16", "fp16_or_bf16"};
constexpr Names kKvFp8Names = {"e4m3", "e5m2", "fp8-e4m3", "fp8-e5m2"};
constexpr Names kKvInt8Names = {"kv8"};
constexpr Names kKvInt4Names = {"kv4"};
constexpr Names kKvNvfp4Names = {"fp4"};
constexpr Names kKvQ8Names = {"q8"};
constexpr Names kKvQ4Names = {"q4"};

// Only what engines offer: LMDeploy int8 and int4 (a 16-bit scale and zero-point a head and token, at head size 128),
// TensorRT-LLM int8, fp8 and nvfp4 (a byte per 16), llama.cpp q8_0 and q4_0 (a 16-bit scale per 32).
constexpr KvFormat kKvFormats[] = {
    {"fp32", kKvFp32Names, bytes(4)},
    {"bf16", kKvBf16Names, bytes(2)},
    {"fp8", kKvFp8Names, bytes(1)},
    {"int8", kKvInt8Names, bytes(1)},
    {"int4", kKvInt4Names, bytes(0.5 + 4.0 / 128)},
    {"nvfp4", kKvNvfp4Names, bytes(0.5 + 1.0 / 16)},
    {"q8_0", kKvQ8Names, bytes(1 + 2.0 / 32)},
    {"q4_0", kKvQ4Names, bytes(0.5 + 2.0 / 32)},
};

constexpr std::pair<Arithmetic, std::string_view> kArithmetics[] = {
    {Arithmetic::fp32, "fp32"}, {Arithmetic::bf16, "bf16"}, {Arithmetic::fp16, "fp16"},
    {Arithmetic::fp8, "fp8"},   {Arithmetic::int8, "int8"}, {Arithmetic::fp4, "fp4"},
};

/// The row of a table by name or alias.
template <class Row>
Parsed<const Row*> parse_row(std::string_view name, std::span<const Row> rows, std::string_view what) {
  const std::string key = lookup_key(name);
  std::vector<std::string> names;
  std::vector<std::string_view> candidates;
  for (const Row& row : rows) {
    if (lookup_key(row.name) == key) return Parsed<const Row*>::ok(&row);
    for (const std::string_view alias : row.aliases) {
      if (lookup_key(alias) == key) return Parsed<const Row*>::ok(&row);
    }
    names.emplace_back(row.name);
    candidates.push_back(row.name);
    candidates.insert(candidates.end(), row.aliases.begin(), row.aliases.end());
  }
  return Parsed<const Row*>::fail("unknown " + std::string(what) + " '" + std::string(name) + "'", join(names, ", "),
                                  nearest_name(name, candidates), "input.unknown_name");
}

}  // namespace

std::string_view to_string(Arithmetic value) {
  for (const auto& [arithmetic, name] : kArithmetics) {
    if (arithmetic == value) return name;
  }
  return "?";
}

std::span<const Scheme> schemes() { return kSchemes; }

Parsed<const Scheme*> parse_scheme(std::string_view name) { return parse_row<Scheme>(name, kSchemes, "weight format"); }

std::span<const KvFormat> kv_formats() { return kKvFormats; }

Parsed<const KvFormat*> parse_kv_format(std::string_view name) {
  return parse_row<KvFormat>(name, kKvFormats, "KV cache format");
}

Bytes stored_bytes(const Storage& storage, double rows, double columns) {
  double bits = rows * columns * storage.bits + rows * storage.row_scale_bits + columns * storage.column_bits +
                storage.tensor_scale_bits;
  if (storage.group > 0) {
    const double groups = std::ceil(columns / static_cast<double>(storage.group)) *
                          std::ceil(rows / static_cast<double>(storage.block_rows));
    bits += groups * (storage.scale_bits + storage.zero_bits);
  }
  return bytes(bits / 8);
}

}  // namespace gpuplan
