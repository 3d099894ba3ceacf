#pragma once
/// Quantization schemes: which tensors are stored how, and in which arithmetic they are multiplied.
///
/// A scheme is one row of a table in `scheme.cpp`. Source of the overheads: docs/PHYSICS.md, "Weights".

#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/units.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace gpuplan {

/// The arithmetic of a matrix product; picks the accelerator's peak.
enum class Arithmetic : std::uint8_t { fp32, bf16, fp16, fp8, int8, fp4 };
std::string_view to_string(Arithmetic value);

/// How elements are stored: bits an element, and what each group along the input dimension adds.
struct Storage {
  double bits = 16;
  std::int64_t group = 0;        ///< elements a group along the input; 0: no groups
  double scale_bits = 0;         ///< a group
  double zero_bits = 0;          ///< a group
  double row_scale_bits = 0;     ///< per output row (per-channel scales)
  double tensor_scale_bits = 0;  ///< once a tensor
  std::int64_t block_rows = 1;   ///< a group spans so many output rows (128 for block-scaled fp8)
  double column_bits = 0;        ///< per input (GPTQ's group index)
};

struct Scheme {
  std::string_view name;                      ///< `int4-awq-g128`
  std::span<const std::string_view> aliases;  ///< `int4`, `awq`, `w4a16`
  std::string_view title;
  Storage linear;             ///< weights of the projections, MLPs and experts
  Storage rest;               ///< embeddings, output head, norms, biases, routers
  bool experts_only = false;  ///< only experts are quantized, the other linears are stored as `rest`
  Arithmetic arithmetic;      ///< of the products with `linear` weights
  bool weight_only = false;   ///< weights are expanded to 16 bit before they are multiplied
};

std::span<const Scheme> schemes();

/// By name or alias, without regard to case, spaces, '-' and '_'; on failure lists what exists and the nearest.
Parsed<const Scheme*> parse_scheme(std::string_view name);

/// How keys and values are stored.
struct KvFormat {
  std::string_view name;  ///< bf16, fp8, int8, …
  std::span<const std::string_view> aliases;
  Bytes element;
};
std::span<const KvFormat> kv_formats();
Parsed<const KvFormat*> parse_kv_format(std::string_view name);

/// Bytes of a matrix of `rows` outputs and `columns` inputs stored so, scales and zero-points included.
Bytes stored_bytes(const Storage& storage, double rows, double columns);

}  // namespace gpuplan
