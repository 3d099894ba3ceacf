#pragma once
/// Quantization schemes: which tensors are stored how, and in which arithmetic they are multiplied.
///
///     parse_scheme("int4-awq-g64").value->linear.group == 64
///     parse_scheme("gguf:Q4_K_M"), parse_scheme("exl2:4.25-h8"), parse_scheme("bits:4.6")
///
/// Families are rows of a table in `scheme.cpp`; many take parameters. What depends on the tensors, a GGUF mix or the modules
/// that a checkpoint keeps, `resolve_scheme` fills in. Source of the overheads: docs/PHYSICS.md, "Weights".

#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/units.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// The arithmetic of a matrix product; picks the accelerator's peak.
enum class Arithmetic : std::uint8_t { fp32, tf32, bf16, fp16, fp8, int8, fp4 };
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

  /// Whether products with such weights are those that the scheme is about; what is in 16 bit or more was left alone.
  [[nodiscard]] bool is_quantized() const { return bits < 16; }
};

/// The storage of equal tensors that differs from what the scheme says of their kind.
struct GroupStorage {
  std::string name;  ///< as in the tensor list
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Storage storage;  ///< the average of the group
};

struct Scheme {
  std::string name;    ///< `int4-awq-g64`; parse_scheme takes it again
  std::string kernel;  ///< what engines call kernels for it: `int4-awq-g128`, `gguf`
  Storage linear;      ///< projections, MLPs, shared experts
  Storage expert;      ///< routed experts
  Storage embedding;   ///< of tokens
  Storage head;
  Storage rest;                              ///< norms, biases, routers, positions, what quantizers leave alone
  Arithmetic arithmetic = Arithmetic::bf16;  ///< of the products with quantized weights
  bool weight_only = false;                  ///< weights are expanded to 16 bit before they are multiplied
  std::vector<GroupStorage> groups;          ///< exceptions, by `resolve_scheme`
};

/// A family of schemes: what help and messages list.
struct SchemeFamily {
  std::string_view name;                      ///< of its usual member: `int4-awq-g128`
  std::span<const std::string_view> aliases;  ///< of that member: `int4`, `awq`, `w4a16`
  std::string_view title;
  std::string_view pattern;  ///< how its other members are written: `int4-awq-gN`; empty: there are none
};
std::span<const SchemeFamily> schemes();

/// By name or alias, without regard to case, spaces, '-' and '_'; on failure lists what exists and the nearest.
Parsed<Scheme> parse_scheme(std::string_view name);

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
