#include "scheme_parameters.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/model/ggml_types.hpp>

#include <cmath>
#include <cstdint>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::int64_t kLargestGroup = 65536;

/// Takes a key apart from the left.
class KeyScanner {
 public:
  explicit KeyScanner(std::string_view key) : rest_(key) {}

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::int64_t> take_number() {
    std::int64_t value = 0;
    std::size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9' && digits < 6) {
      value = 10 * value + (rest_[digits++] - '0');
    }
    if (digits == 0) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

/// `g64`, or `channel` (also `row`): 0.
std::optional<std::int64_t> take_group(KeyScanner& in) {
  if (in.take("channel") || in.take("row")) return 0;
  if (!in.take("g")) return std::nullopt;
  const auto size = in.take_number();
  if (!size || *size < 1 || *size > kLargestGroup) return std::nullopt;
  return size;
}

struct Method {
  std::string_view key;     // in a name without '-'
  std::string_view name;    // with what stands before and after it
  std::string_view kernel;  // the row of engines that runs it
  bool zero_points;         // packed in the bits of the weights
  bool input_index;         // an int32 an input: `g_idx`, which checkpoints hold even without act-order
  double tensor_bits;
};
// Scales are in 16 bit: AutoAWQ's and AutoGPTQ's qweight, qzeros, scales (and g_idx); compressed-tensors' weight_packed,
// weight_scale and weight_shape of two int64.
constexpr Method kMethods[] = {
    {"awq", "-awq", "int4-awq-g128", true, false, 0},
    {"gptq", "-gptq", "int4-gptq-g128", true, true, 0},
    {"autoround", "-autoround", "int4-gptq-g128", true, false, 0},
    {"w4a8", "-w4a8", "int4-w4a8-g128", false, false, 64},
    {"", "", "int4-awq-g128", false, false, 128},
};

std::string group_name(std::int64_t group) { return group > 0 ? "-g" + std::to_string(group) : "-channel"; }

Scheme integer_scheme(const Method& method, std::int64_t bits, std::int64_t group) {
  const double zero = method.zero_points ? static_cast<double>(bits) : 0;
  Storage storage{.bits = static_cast<double>(bits), .group = group, .tensor_scale_bits = method.tensor_bits};
  if (group > 0) {
    storage.scale_bits = 16;
    storage.zero_bits = zero;
  } else {
    storage.row_scale_bits = 16 + zero;
  }
  if (method.input_index) storage.column_bits = 32;
  const bool eight_bits_alone = bits == 8 && method.key.empty();
  Scheme scheme = linear_scheme("int" + std::to_string(bits) + std::string(method.name) + group_name(group),
                                eight_bits_alone ? "int8-wo" : method.kernel, storage);
  scheme.weight_only = method.key != "w4a8";
  if (!scheme.weight_only) scheme.arithmetic = Arithmetic::fp8;
  return scheme;
}

/// `int4-gptq-g64`, `w4a16-g64`, `gptq-4bit-g64`; GPTQ's act-order may be named, for nothing is stored otherwise.
std::optional<Scheme> parse_integer(std::string_view key) {
  for (const Method& method : kMethods) {
    KeyScanner in(key);
    std::optional<std::int64_t> bits;
    if (in.take("int")) {
      bits = in.take_number();
      if (!bits || !in.take(method.key)) continue;
    } else if (method.key.empty() && in.take("w")) {
      bits = in.take_number();
      if (!bits || !in.take("a16")) continue;
    } else if (!method.key.empty() && in.take(method.key)) {
      bits = in.take_number();
      if (!bits || !in.take("bit")) continue;
    }
    if (!bits || *bits < 2 || *bits > 8) continue;
    if (method.key == "gptq") (void)in.take("actorder");
    const auto group = take_group(in);
    if (group && in.at_end()) return integer_scheme(method, *bits, *group);
  }
  return std::nullopt;
}

/// HQQ: a 16-bit scale and a 16-bit zero a group (github.com/mobiusml/hqq, Quantizer.quantize with axis 1).
std::optional<Scheme> parse_hqq(std::string_view key) {
  KeyScanner in(key);
  if (!in.take("hqq")) return std::nullopt;
  const auto bits = in.take_number();
  if (!bits || *bits < 1 || *bits > 8 || !in.take("bit")) return std::nullopt;
  const auto group = take_group(in);
  if (!group || !in.at_end()) return std::nullopt;
  Storage storage{.bits = static_cast<double>(*bits), .group = *group};
  if (*group > 0) {
    storage.scale_bits = storage.zero_bits = 16;
  } else {
    storage.row_scale_bits = 32;
  }
  Scheme scheme = linear_scheme("hqq-" + std::to_string(*bits) + "bit" + group_name(*group), "hqq-4bit-g64", storage);
  scheme.weight_only = true;
  return scheme;
}

/// MLX (mlx.core.quantize): a 16-bit scale and a 16-bit bias a group, embeddings and head as well.
std::optional<Scheme> parse_mlx(std::string_view key) {
  KeyScanner in(key);
  if (!in.take("mlx")) return std::nullopt;
  const auto bits = in.take_number();
  if (!bits || *bits < 2 || *bits > 8 || !in.take("bit")) return std::nullopt;
  const auto group = take_group(in);
  if (!group || *group < 1 || !in.at_end()) return std::nullopt;
  const Storage storage{.bits = static_cast<double>(*bits), .group = *group, .scale_bits = 16, .zero_bits = 16};
  Scheme scheme = linear_scheme("mlx-" + std::to_string(*bits) + "bit" + group_name(*group), "mlx-4bit-g64", storage);
  scheme.embedding = scheme.head = storage;
  scheme.weight_only = true;
  return scheme;
}

/// AQLM (arXiv:2401.06118, 3): of each group `books` codes of `bits` bits, the codebooks in 16 bit, a scale a row.
std::optional<Scheme> parse_aqlm(std::string_view key) {
  KeyScanner in(key);
  if (!in.take("aqlm")) return std::nullopt;
  const auto books = in.take_number();
  if (!books || *books < 1 || *books > 16 || !in.take("x")) return std::nullopt;
  const auto bits = in.take_number();
  if (!bits || *bits < 1 || *bits > 16) return std::nullopt;
  const auto group = take_group(in);
  if (!group || *group < 1 || *group > 256 || !in.at_end()) return std::nullopt;
  const auto size = static_cast<double>(*group);
  Storage storage{.bits = static_cast<double>(*books * *bits) / size, .row_scale_bits = 16};
  storage.tensor_scale_bits = static_cast<double>(*books) * std::exp2(static_cast<double>(*bits)) * size * 16;
  Scheme scheme =
      linear_scheme("aqlm-" + std::to_string(*books) + "x" + std::to_string(*bits) + "-g" + std::to_string(*group),
                    "aqlm-1x16-g8", storage);
  scheme.weight_only = true;
  return scheme;
}

/// QuIP# (arXiv:2402.04396, 4): codes, and the signs of its two transforms as vectors in 16 bit.
std::optional<Scheme> parse_quip(std::string_view key) {
  KeyScanner in(key);
  if (!in.take("quip")) return std::nullopt;
  const auto bits = in.take_number();
  if (!bits || *bits < 2 || *bits > 4 || !in.take("bit") || !in.at_end()) return std::nullopt;
  Storage storage{.bits = static_cast<double>(*bits), .row_scale_bits = 16, .tensor_scale_bits = 32, .column_bits = 16};
  Scheme scheme = linear_scheme("quip-" + std::to_string(*bits) + "bit", "quip-2bit", storage);
  scheme.weight_only = true;
  return scheme;
}

/// `4.25`, with at most three decimals, from 1 to 16 (`bits:` up to 32).
std::optional<double> parse_bits(std::string_view text, double most) {
  const auto number = parse_number(text).value;
  if (!number || *number < 0.5 || *number > most) return std::nullopt;
  return std::round(*number * 1000) / 1000;
}

/// ExLlama: the average is of all layers with their scales; embeddings stay in 16 bit and the head has its own bits.
std::optional<Scheme> parse_exl(std::string_view kind, std::string_view text) {
  std::int64_t head = 6;  // convert.py's default
  if (const auto at = text.find("-h"); at != std::string_view::npos) {
    KeyScanner in(text.substr(at + 2));
    const auto bits = in.take_number();
    if (!bits || *bits < 2 || *bits > 16 || !in.at_end()) return std::nullopt;
    head = *bits;
    text = text.substr(0, at);
  }
  if (text.ends_with("bpw")) text.remove_suffix(3);
  const auto bits = parse_bits(text, 8);
  if (!bits) return std::nullopt;
  std::string name = std::string(kind) + ":" + format_shortest(*bits);
  if (head != 6) name += "-h" + std::to_string(head);
  Scheme scheme = linear_scheme(std::move(name), kind == "exl2" ? "exl2:4.0" : "exl3:4.0", {.bits = *bits});
  scheme.head = {.bits = static_cast<double>(head)};
  scheme.arithmetic = Arithmetic::fp16;
  scheme.weight_only = true;
  return scheme;
}

/// Storage of a GGML type; rows that do not hold whole blocks are rounded up by `resolve_scheme`.
Storage storage_of_type(GgmlType type) {
  const GgmlTypeTraits& traits = traits_of(type);
  return {.bits = traits.bits_per_weight(), .row_scale_bits = 8.0 * static_cast<double>(traits.row_bytes)};
}

/// @param head  of a mix: its type of the output matrix
Scheme gguf_scheme_of(std::string_view name, GgmlType base, GgmlType embedding, GgmlType head) {
  const bool plain = traits_of(base).block == 1;
  Scheme scheme = linear_scheme("gguf:" + std::string(name), "gguf", storage_of_type(base));
  scheme.embedding = storage_of_type(embedding);
  scheme.head = storage_of_type(head);
  scheme.rest = {.bits = 32};
  scheme.weight_only = !plain;
  if (!plain) return scheme;
  scheme.arithmetic = base == GgmlType::f32   ? Arithmetic::fp32
                      : base == GgmlType::f16 ? Arithmetic::fp16
                                              : Arithmetic::bf16;
  scheme.kernel = to_string(scheme.arithmetic);
  return scheme;
}

}  // namespace

std::optional<Scheme> grouped_scheme(std::string_view key) {
  for (const auto parse : {parse_integer, parse_hqq, parse_mlx, parse_aqlm, parse_quip}) {
    if (auto scheme = parse(key)) return scheme;
  }
  return std::nullopt;
}

std::optional<Scheme> average_scheme(std::string_view name) {
  const auto colon = name.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string kind = lookup_key(name.substr(0, colon));
  std::string text = to_lower(name.substr(colon + 1));
  for (char& c : text) c = c == '_' ? '-' : c;
  if (kind == "exl2" || kind == "exl3") return parse_exl(kind, text);
  if (kind != "bits") return std::nullopt;
  const auto bits = parse_bits(text, 32);
  if (!bits) return std::nullopt;
  // Mostly GGUF files of somebody's own mix are known by their average.
  Scheme scheme = linear_scheme("bits:" + format_shortest(*bits), "gguf", {.bits = *bits});
  scheme.embedding = scheme.head = scheme.rest = scheme.linear;
  scheme.weight_only = true;
  return scheme;
}

std::optional<Scheme> gguf_scheme(std::string_view name) {
  constexpr std::string_view prefix = "gguf:";
  const bool prefixed = to_lower(name.substr(0, prefix.size())) == prefix;
  if (prefixed) name.remove_prefix(prefix.size());
  if (const auto file_type = parse_ggml_file_type(name).value) {
    MixModel model;
    model.layers = 1;
    MixTensor tensor;
    tensor.columns = 256;
    tensor.kind = GgufTensorKind::token_embedding;
    const GgmlType embedding = mix_type(*file_type, tensor, model);
    tensor.kind = GgufTensorKind::output;
    const GgmlType head = mix_type(*file_type, tensor, model);
    const GgmlFileTypeTraits* traits = find_ggml_file_type(static_cast<std::uint64_t>(*file_type));
    return gguf_scheme_of(traits->name, traits->base, embedding, head);
  }
  const auto type = parse_ggml_type(name).value;
  const bool weights = type && *type != GgmlType::f64 && (*type < GgmlType::i8 || *type > GgmlType::i64);
  if (weights) return gguf_scheme_of(to_string(*type), *type, *type, *type);
  return std::nullopt;
}

}  // namespace gpuplan
