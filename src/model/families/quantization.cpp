#include "quantization.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/model/scheme.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

struct Found {
  std::string scheme;         // a candidate name, or empty
  std::string detail;         // `with 4 bits in groups of 64`
  std::string approximation;  // what the scheme does not say of this format
};

using ReadMethod = Found (*)(Fields& in);

std::string groups(std::optional<std::int64_t> size) {
  if (!size || *size <= 0) return " over whole rows";
  return " in groups of " + std::to_string(*size);
}

/// `int4-gptq-g128`; a size of -1 is one group a row.
Found integer_groups(std::string_view method, std::optional<std::int64_t> bits, std::optional<std::int64_t> size) {
  if (!bits) return {{}, "without a number of bits", {}};
  Found found;
  found.detail = "with " + std::to_string(*bits) + " bits" + groups(size);
  found.scheme = "int" + std::to_string(*bits) + "-" + std::string(method) +
                 (size && *size > 0 ? "-g" + std::to_string(*size) : std::string("-row"));
  return found;
}

Found read_gptq(Fields& in) {
  return integer_groups("gptq", whole_number_of(in.find({"bits"})), whole_number_of(in.find({"group_size"})));
}
Found read_awq(Fields& in) {
  return integer_groups("awq", whole_number_of(in.find({"bits", "w_bit"})),
                        whole_number_of(in.find({"group_size", "q_group_size"})));
}
Found read_auto_round(Fields& in) {
  return in.text({"packing_format"}).find("awq") != std::string::npos ? read_awq(in) : read_gptq(in);
}

Found read_bitsandbytes(Fields& in) {
  const auto is_set = [&](std::string_view key) { return boolean_of(in.find({key})).value_or(false); };
  if (is_set("load_in_4bit") || is_set("_load_in_4bit")) {
    const std::string type = in.text({"bnb_4bit_quant_type"});
    if (type == "nf4") return {is_set("bnb_4bit_use_double_quant") ? "nf4" : "nf4-sq", {}, {}};
    return {{}, "in 4 bit of type '" + (type.empty() ? "fp4" : type) + "'", {}};
  }
  if (is_set("load_in_8bit") || is_set("_load_in_8bit")) return {"int8-wo", {}, {}};
  return {{}, "without load_in_4bit or load_in_8bit", {}};
}

/// `weight_block_size` [128, 128], or absent for one scale a tensor.
Found read_fp8(Fields& in) {
  const Node* block = in.find({"weight_block_size"});
  if (!block) return {"fp8", {}, {}};
  const bool pair = block->kind == Node::Kind::sequence && block->items.size() == 2;
  const auto rows = pair ? whole_number_of(&block->items[0]) : std::nullopt;
  const auto columns = pair ? whole_number_of(&block->items[1]) : std::nullopt;
  if (rows == 128 && columns == 128) return {"fp8-block", {}, {}};
  return {{}, "in blocks other than 128 x 128", {}};
}
Found read_fp8_rows(Fields& /*in*/) { return {"fp8", {}, "a scale a row is counted as one a tensor"}; }
Found read_mxfp4(Fields& /*in*/) { return {"mxfp4", {}, {}}; }

struct AlgorithmRow {
  std::string_view algorithm;
  std::string_view scheme;
};
// ModelOpt's quant_algo
constexpr AlgorithmRow kAlgorithms[] = {
    {"FP8", "fp8"},     {"FP8_PB_WO", "fp8-block"},      {"FP8_PB_REAL", "fp8-block"},
    {"NVFP4", "nvfp4"}, {"W8A8_SQ_PER_CHANNEL", "int8"}, {"W8A16", "int8-wo"},
};

Found read_modelopt(Fields& in) {
  const std::string algorithm = in.text({"quant_algo"});
  for (const AlgorithmRow& row : kAlgorithms) {
    if (row.algorithm == algorithm) return {std::string(row.scheme), {}, {}};
  }
  if (algorithm == "W4A16_AWQ") return integer_groups("awq", 4, whole_number_of(in.find({"group_size"})));
  return {{}, "by the algorithm '" + algorithm + "'", {}};
}

/// One group of compressed-tensors: `weights` as {num_bits, type, strategy, group_size}.
Found read_weights_group(const Node& group) {
  const Node* weights = group.find("weights");
  if (!weights) return {{}, "without a description of the weights", {}};
  const auto bits = whole_number_of(weights->find("num_bits"));
  const std::string type = string_of(weights->find("type")).value_or("");
  const std::string strategy = string_of(weights->find("strategy")).value_or("");
  const auto size = whole_number_of(weights->find("group_size"));
  const Node* inputs = group.find("input_activations");
  const bool weight_only = !inputs || inputs->kind == Node::Kind::null;
  if (type == "float" && bits == 8) {
    if (strategy == "channel") return {"fp8", {}, "a scale a row is counted as one a tensor"};
    return {strategy == "block" ? "fp8-block" : "fp8", {}, {}};
  }
  if (type == "float" && bits == 4 && size == 16) return {"nvfp4", {}, {}};
  if (type == "int" && bits == 8 && (strategy == "channel" || strategy == "tensor")) {
    return {weight_only ? "int8-wo" : "int8", {}, {}};
  }
  if (type == "int" && weight_only) {
    Found found = integer_groups("awq", bits, strategy == "group" ? size : std::nullopt);
    if (boolean_of(weights->find("symmetric")).value_or(true))
      found.approximation = "zero-points that it lacks are counted";
    return found;
  }
  return {{}, "in " + std::to_string(bits.value_or(0)) + " bits of type '" + type + "'", {}};
}

Found read_compressed_tensors(Fields& in) {
  const Node* list = in.find({"config_groups"});
  if (!list || list->items.empty()) return {{}, "without config_groups", {}};
  Found found = read_weights_group(list->items.front());
  for (const Node& other : list->items) {
    if (read_weights_group(other).scheme != found.scheme) return {{}, "in several formats", {}};
  }
  return found;
}

struct MethodRow {
  std::string_view method;  // `quant_method`
  ReadMethod read;
};
constexpr MethodRow kMethods[] = {
    {"gptq", read_gptq},
    {"awq", read_awq},
    {"auto-round", read_auto_round},
    {"intel/auto-round", read_auto_round},
    {"bitsandbytes", read_bitsandbytes},
    {"fp8", read_fp8},
    {"fbgemm_fp8", read_fp8_rows},
    {"mxfp4", read_mxfp4},
    {"modelopt", read_modelopt},
    {"modelopt_fp4", read_modelopt},
    {"modelopt_fp8", read_modelopt},
    {"compressed-tensors", read_compressed_tensors},
    {"compressed_tensors", read_compressed_tensors},
};

/// What a config means that names no method: old exports of each library.
std::string implied_method(const Fields& in) {
  if (in.has({"quant_algo"})) return "modelopt";
  if (in.has({"load_in_4bit", "load_in_8bit", "_load_in_4bit", "_load_in_8bit"})) return "bitsandbytes";
  if (in.has({"config_groups"})) return "compressed-tensors";
  if (in.has({"w_bit"})) return "awq";
  if (in.has({"bits"})) return "gptq";
  return {};
}

/// Whether a module's name is of what no scheme quantizes: the head, embeddings, norms, routers, vision towers.
bool stays_anyway(std::string_view module) {
  for (const std::string_view part :
       {"lm_head", "embed", "norm", "router", "indexer", "vis", "mtp", "eh_proj", "e_score"}) {
    if (module.find(part) != std::string_view::npos) return true;
  }
  return module.ends_with("gate");
}

void warn_of_kept_modules(Fields& in) {
  for (const std::string_view key : {"ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers"}) {
    std::size_t kept = 0;
    std::string first;
    for (const std::string& module : in.texts(key)) {
      if (stays_anyway(module)) continue;
      if (kept++ == 0) first = module;
    }
    if (kept == 0) continue;
    in.warn("model.unquantized_modules",
            std::to_string(kept) + " modules stay unquantized ('" + first +
                "' is the first); they are counted as quantized",
            key);
  }
}

std::string kv_format_of(const Fields& in) {
  std::string name = in.text({"kv_cache_quant_algo", "kv_cache_scheme"});
  const Node* described = in.find({"kv_cache_scheme"});
  if (name.empty() && described && described->find("num_bits")) {
    const std::string type = string_of(described->find("type")).value_or("");
    name = (type == "float" ? "fp" : "int") + std::to_string(whole_number_of(described->find("num_bits")).value_or(0));
  }
  const auto format = parse_kv_format(name);
  return format.value ? std::string((*format.value)->name) : std::string();
}

Quantization settle(Fields& in, std::string method, const Found& found) {
  Quantization out;
  out.kv_format = kv_format_of(in);
  const auto scheme = parse_scheme(found.scheme);
  if (scheme.value) {
    out.scheme = (*scheme.value)->name;
    if (!found.approximation.empty()) {
      in.warn("model.approximate_quantization",
              "'" + method + "' is taken as " + out.scheme + ": " + found.approximation);
    }
    if (!(*scheme.value)->experts_only) warn_of_kept_modules(in);
  } else {
    in.warn("model.unknown_quantization",
            "unknown quantization '" + method + "'" + (found.detail.empty() ? "" : " " + found.detail));
  }
  out.method = std::move(method);
  return out;
}

}  // namespace

Quantization read_quantization_config(Fields in) {
  std::string method = in.text({"quant_method"});
  if (method.empty()) method = implied_method(in);
  if (method.empty()) {
    if (!in.node().items.empty()) in.warn("model.unknown_quantization", "unknown quantization: no quant_method");
    return {};
  }
  for (const MethodRow& row : kMethods) {
    if (row.method == method) return settle(in, method, row.read(in));
  }
  return settle(in, method, {});
}

Quantization read_quantizer_file(Fields in, std::string_view name) {
  if (const Node* inner = in.find({"quantization"}); inner && inner->kind == Node::Kind::mapping) {
    Fields quantization = in.inside(*inner);
    const std::string algorithm = quantization.text({"quant_algo"});
    if (!algorithm.empty()) return settle(quantization, algorithm, read_modelopt(quantization));
  } else if (in.has({"quant_method"}) || !implied_method(in).empty()) {
    return read_quantization_config(in);
  }
  in.warn("model.unknown_quantization", "'" + std::string(name) + "' says no weight format and is left aside");
  return {};
}

}  // namespace gpuplan
