#include <gpuplan/model/scheme.hpp>

#include "scheme_parameters.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>

#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

using Names = std::string_view[];

constexpr Names kFp32Names = {"float32", "32bit"};
constexpr Names kTf32Names = {"tensorfloat32"};
constexpr Names kBf16Names = {"16bit", "bfloat16", "fp16_or_bf16"};
constexpr Names kFp16Names = {"half", "float16"};
constexpr Names kFp8Names = {"e4m3", "fp8-e4m3", "float8", "fp8-tensor"};
constexpr Names kFp8ChannelNames = {"fp8-row", "fp8-dynamic", "fbgemm-fp8"};
constexpr Names kFp8BlockNames = {"fp8-block128", "fp8-128x128"};
constexpr Names kInt8Names = {"w8a8", "int8-w8a8", "smoothquant"};
constexpr Names kInt8OnlyNames = {"w8a16"};
constexpr Names kLlmInt8Names = {"llm.int8", "llm.int8()", "bnb-8bit", "bnb-int8"};
constexpr Names kAwqNames = {"int4", "awq", "w4a16"};
constexpr Names kGptqNames = {"gptq"};
constexpr Names kAutoRoundNames = {"autoround"};
constexpr Names kW4a8Names = {"w4a8", "int4-w4a8"};
constexpr Names kNf4Names = {"nf4-dq", "bnb-4bit", "qlora"};
constexpr Names kNf4SingleNames = {"nf4-single"};
constexpr Names kFp4BnbNames = {"bnb-fp4", "fp4-dq"};
constexpr Names kHqqNames = {"hqq"};
constexpr Names kAqlmNames = {"aqlm"};
constexpr Names kQuipNames = {"quip", "quip#"};
constexpr Names kMxfp4Names = {"mxfp4-moe"};
constexpr Names kNvfp4Names = {"fp4"};
constexpr Names kMlxNames = {"mlx"};
constexpr Names kExl2Names = {"exl2"};
constexpr Names kExl3Names = {"exl3"};
constexpr Names kGgufNames = {"gguf"};

constexpr SchemeFamily kFamilies[] = {
    {"fp32", kFp32Names, "single precision", {}},
    {"tf32", kTf32Names, "single precision, multiplied in TF32", {}},
    {"bf16", kBf16Names, "16 bit, bfloat16", {}},
    {"fp16", kFp16Names, "16 bit, half precision", {}},
    {"fp8", kFp8Names, "FP8 E4M3 linears with a scale a tensor", {}},
    {"fp8-channel", kFp8ChannelNames, "FP8 E4M3 linears with a scale a channel", {}},
    {"fp8-block", kFp8BlockNames, "FP8 E4M3 linears with a scale per 128 x 128 block", {}},
    {"mxfp8", {}, "FP8 E4M3 linears with a scale per 32 weights", {}},
    {"int8", kInt8Names, "INT8 weights and activations, a scale a channel", {}},
    {"int8-wo", kInt8OnlyNames, "INT8 weights only, a scale a channel", {}},
    {"llm-int8", kLlmInt8Names, "LLM.int8(): INT8 weights of bitsandbytes, outliers in 16 bit", {}},
    {"int4-awq-g128", kAwqNames, "AWQ INT4 weights in groups of 128", "int4-awq-gN"},
    {"int4-gptq-g128", kGptqNames, "GPTQ INT4 weights in groups of 128", "intB-gptq-gN"},
    {"int4-g128", {}, "INT4 weights in groups of 128 without zero-points (compressed-tensors)", "intB-gN"},
    {"int4-autoround-g128", kAutoRoundNames, "AutoRound INT4 weights in groups of 128", "intB-autoround-gN"},
    {"int4-w4a8-g128", kW4a8Names, "INT4 weights in groups of 128, FP8 activations", "int4-w4a8-gN"},
    {"nf4", kNf4Names, "NF4 weights with double quantization", {}},
    {"nf4-sq", kNf4SingleNames, "NF4 weights with single quantization", {}},
    {"fp4-bnb", kFp4BnbNames, "FP4 weights of bitsandbytes with double quantization", {}},
    {"fp4-bnb-sq", {}, "FP4 weights of bitsandbytes with single quantization", {}},
    {"hqq-4bit-g64", kHqqNames, "HQQ 4-bit weights in groups of 64", "hqq-Bbit-gN"},
    {"aqlm-1x16-g8", kAqlmNames, "AQLM: a code of 16 bits per 8 weights", "aqlm-CxB-gN"},
    {"quip-2bit", kQuipNames, "QuIP# 2-bit weights", "quip-Bbit"},
    {"mxfp4", kMxfp4Names, "MXFP4 experts, the rest in 16 bit", {}},
    {"mxfp4-linear", {}, "MXFP4 linears", {}},
    {"nvfp4", kNvfp4Names, "NVFP4 weights and activations", {}},
    {"mlx-4bit-g64", kMlxNames, "MLX 4-bit weights in groups of 64, embeddings too", "mlx-Bbit-gN"},
    {"exl2:4.0", kExl2Names, "EXL2 weights of 4 bits on average, the head in 6", "exl2:BITS-hB"},
    {"exl3:4.0", kExl3Names, "EXL3 weights of 4 bits on average, the head in 6", "exl3:BITS-hB"},
    {"gguf:Q4_K_M", kGgufNames, "GGUF file of llama.cpp's mix Q4_K_M", "gguf:TYPE"},
    {"bits:4.5", {}, "everything in 4.5 bits on average", "bits:N"},
};

constexpr Storage kFp32{.bits = 32};
constexpr Storage k16Bit{.bits = 16};
// A scale for the weight and one for the activations, each in fp32 (ModelOpt, compressed-tensors).
constexpr Storage kFp8Tensor{.bits = 8, .tensor_scale_bits = 64};
constexpr Storage kFp8Channel{.bits = 8, .row_scale_bits = 16};  // compressed-tensors: in the type of the activations
constexpr Storage kFp8Block{.bits = 8, .group = 128, .scale_bits = 32, .block_rows = 128};  // arXiv:2412.19437, 3.3.2
constexpr Storage kMxfp8{.bits = 8, .group = 32, .scale_bits = 8};  // OCP Microscaling Formats 1.0
constexpr Storage kInt8Row{.bits = 8, .row_scale_bits = 32};        // arXiv:2208.07339
// The same and a byte a tensor that names the layout.
constexpr Storage kLlmInt8{.bits = 8, .row_scale_bits = 32, .tensor_scale_bits = 8};
// arXiv:2305.14314: blocks of 64, their fp32 constants themselves in 8 bits with an fp32 constant per 256: 4.127 bits.
constexpr Storage kNf4Double{.bits = 4, .group = 64, .scale_bits = 8 + 32.0 / 256};
constexpr Storage kNf4Single{.bits = 4, .group = 64, .scale_bits = 32};
constexpr Storage kMxfp4{
    .bits = 4, .group = 32, .scale_bits = 8};  // OCP Microscaling Formats 1.0: an E8M0 scale per 32
// An E4M3 scale per 16, and fp32 scales of the weight and of the activations a tensor.
constexpr Storage kNvfp4{.bits = 4, .group = 16, .scale_bits = 8, .tensor_scale_bits = 64};

/// Families without parameters.
struct PlainRow {
  std::string_view name;
  std::string_view kernel;
  Storage linear;
  Arithmetic arithmetic;
  bool weight_only;
};
constexpr PlainRow kPlain[] = {
    {"fp32", "fp32", kFp32, Arithmetic::fp32, false},
    {"tf32", "fp32", kFp32, Arithmetic::tf32, false},
    {"bf16", "bf16", k16Bit, Arithmetic::bf16, false},
    {"fp16", "fp16", k16Bit, Arithmetic::fp16, false},
    {"fp8", "fp8", kFp8Tensor, Arithmetic::fp8, false},
    {"fp8-channel", "fp8", kFp8Channel, Arithmetic::fp8, false},
    {"fp8-block", "fp8-block", kFp8Block, Arithmetic::fp8, false},
    {"mxfp8", "mxfp8", kMxfp8, Arithmetic::fp8, false},
    {"int8", "int8", kInt8Row, Arithmetic::int8, false},
    {"int8-wo", "int8-wo", kInt8Row, Arithmetic::bf16, true},
    {"llm-int8", "int8-wo", kLlmInt8, Arithmetic::bf16, true},
    {"nf4", "nf4", kNf4Double, Arithmetic::bf16, true},
    {"nf4-sq", "nf4", kNf4Single, Arithmetic::bf16, true},
    {"fp4-bnb", "nf4", kNf4Double, Arithmetic::bf16, true},
    {"fp4-bnb-sq", "nf4", kNf4Single, Arithmetic::bf16, true},
    {"mxfp4", "mxfp4", kMxfp4, Arithmetic::bf16, true},
    {"mxfp4-linear", "mxfp4", kMxfp4, Arithmetic::bf16, true},
    {"nvfp4", "nvfp4", kNvfp4, Arithmetic::fp4, false},
};

constexpr Names kKvFp32Names = {"float32", "f32"};
constexpr Names kKvBf16Names = {"fp16", "f16", "auto", "auto16", "16bit", "bfloat16", "float16", "fp16_or_bf16"};
constexpr Names kKvFp8Names = {"e4m3", "e5m2", "fp8-e4m3", "fp8-e5m2"};
constexpr Names kKvInt8Names = {"kv8"};
constexpr Names kKvInt4Names = {"kv4"};
constexpr Names kKvNvfp4Names = {"fp4"};
constexpr Names kKvQ8Names = {"q8"};
constexpr Names kKvQ4Names = {"q4"};

// Only what engines offer: LMDeploy int8 and int4 (a 16-bit scale and zero-point a head and token, at head size 128),
// TensorRT-LLM int8, fp8 and nvfp4 (a byte per 16), llama.cpp's --cache-type-k and -v (blocks of 32: a 16-bit scale, of the
// `_1` types a 16-bit minimum, of the q5 types a fifth bit).
constexpr KvFormat kKvFormats[] = {
    {"fp32", kKvFp32Names, bytes(4)},
    {"bf16", kKvBf16Names, bytes(2)},
    {"fp8", kKvFp8Names, bytes(1)},
    {"int8", kKvInt8Names, bytes(1)},
    {"int4", kKvInt4Names, bytes(0.5 + 4.0 / 128)},
    {"nvfp4", kKvNvfp4Names, bytes(0.5 + 1.0 / 16)},
    {"q8_0", kKvQ8Names, bytes(34.0 / 32)},
    {"q5_1", {}, bytes(24.0 / 32)},
    {"q5_0", {}, bytes(22.0 / 32)},
    {"q4_1", {}, bytes(20.0 / 32)},
    {"q4_0", kKvQ4Names, bytes(18.0 / 32)},
    {"iq4_nl", {}, bytes(18.0 / 32)},
};

/// Of any two different formats the one whose keys are stored as the first and whose values as the second.
struct KvPairs {
  std::vector<std::string> names;  // what the rows view
  std::vector<KvFormat> rows;
};

KvPairs all_kv_pairs() {
  KvPairs pairs;
  for (const KvFormat& keys : kKvFormats) {
    for (const KvFormat& values : kKvFormats)
      pairs.names.push_back(std::string(keys.name) + "/" + std::string(values.name));
  }
  std::size_t at = 0;
  for (const KvFormat& keys : kKvFormats) {
    for (const KvFormat& values : kKvFormats)
      pairs.rows.push_back({pairs.names[at++], {}, (keys.element + values.element) / 2});
  }
  return pairs;
}

const KvFormat* kv_pair(const KvFormat& keys, const KvFormat& values) {
  static const KvPairs pairs = all_kv_pairs();  // a table, made when the first pair is asked for
  const auto row = static_cast<std::size_t>(&keys - kKvFormats) * std::size(kKvFormats);
  return &pairs.rows[row + static_cast<std::size_t>(&values - kKvFormats)];
}

constexpr std::pair<Arithmetic, std::string_view> kArithmetics[] = {
    {Arithmetic::fp32, "fp32"}, {Arithmetic::tf32, "tf32"}, {Arithmetic::bf16, "bf16"}, {Arithmetic::fp16, "fp16"},
    {Arithmetic::fp8, "fp8"},   {Arithmetic::int8, "int8"}, {Arithmetic::fp4, "fp4"},
};

/// The row of a table by name or alias; null when there is none.
template <class Row>
const Row* find_row(std::string_view key, std::span<const Row> rows) {
  for (const Row& row : rows) {
    if (lookup_key(row.name) == key) return &row;
    for (const std::string_view alias : row.aliases) {
      if (lookup_key(alias) == key) return &row;
    }
  }
  return nullptr;
}

/// What exists and the nearest of it.
template <class T, class Row>
Parsed<T> unknown_name(std::string_view name, std::span<const Row> rows, std::string_view what,
                       std::vector<std::string> names) {
  std::vector<std::string_view> candidates;
  for (const Row& row : rows) {
    candidates.push_back(row.name);
    candidates.insert(candidates.end(), row.aliases.begin(), row.aliases.end());
  }
  return Parsed<T>::fail("unknown " + std::string(what) + " '" + std::string(name) + "'", join(names, ", "),
                         nearest_name(name, candidates), "input.unknown_name");
}

std::vector<std::string> listed_schemes() {
  std::vector<std::string> names;
  for (const SchemeFamily& family : kFamilies) {
    names.emplace_back(family.name);
    if (!family.pattern.empty()) names.back() += " (" + std::string(family.pattern) + ")";
  }
  return names;
}

Scheme plain_scheme(const PlainRow& row) {
  Scheme scheme = linear_scheme(std::string(row.name), row.kernel, row.linear);
  scheme.arithmetic = row.arithmetic;
  scheme.weight_only = row.weight_only;
  if (row.linear.bits > 16) scheme.embedding = scheme.head = scheme.rest = row.linear;
  if (row.name == "mxfp4") scheme.linear = scheme.rest;  // of the published checkpoints only the experts are
  return scheme;
}

/// A scheme by the name of its family.
std::optional<Scheme> member(std::string_view name) {
  for (const PlainRow& row : kPlain) {
    if (row.name == name) return plain_scheme(row);
  }
  if (auto scheme = average_scheme(name)) return scheme;
  std::string key(name);
  if (key.ends_with("g-1")) key.replace(key.size() - 3, 3, "channel");  // as quantizers' settings call it
  if (auto scheme = grouped_scheme(lookup_key(key))) return scheme;
  return gguf_scheme(name);
}

}  // namespace

std::string_view to_string(Arithmetic value) {
  for (const auto& [arithmetic, name] : kArithmetics) {
    if (arithmetic == value) return name;
  }
  return "?";
}

std::span<const SchemeFamily> schemes() { return kFamilies; }

Scheme linear_scheme(std::string name, std::string_view kernel, const Storage& linear) {
  Scheme scheme;
  scheme.name = std::move(name);
  scheme.kernel = kernel;
  scheme.linear = scheme.expert = linear;
  return scheme;
}

Parsed<Scheme> parse_scheme(std::string_view name) {
  const SchemeFamily* family = find_row<SchemeFamily>(lookup_key(name), kFamilies);
  if (auto scheme = member(family ? family->name : name)) return Parsed<Scheme>::ok(std::move(*scheme));
  return unknown_name<Scheme, SchemeFamily>(name, kFamilies, "weight format", listed_schemes());
}

std::span<const KvFormat> kv_formats() { return kKvFormats; }

Parsed<const KvFormat*> parse_kv_format(std::string_view name) {
  if (const KvFormat* row = find_row<KvFormat>(lookup_key(name), kKvFormats)) return Parsed<const KvFormat*>::ok(row);
  if (const std::size_t slash = name.find('/'); slash != std::string_view::npos) {
    const KvFormat* keys = find_row<KvFormat>(lookup_key(name.substr(0, slash)), kKvFormats);
    const KvFormat* values = find_row<KvFormat>(lookup_key(name.substr(slash + 1)), kKvFormats);
    if (keys && values && keys == values) return Parsed<const KvFormat*>::ok(keys);
    if (const KvFormat* pair = keys && values ? kv_pair(*keys, *values) : nullptr)
      return Parsed<const KvFormat*>::ok(pair);
  }
  std::vector<std::string> names;
  for (const KvFormat& row : kKvFormats) names.emplace_back(row.name);
  names.emplace_back("q8_0/q4_0 (KEYS/VALUES)");
  return unknown_name<const KvFormat*, KvFormat>(name, kKvFormats, "KV cache format", std::move(names));
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
