#include "quantization_methods.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/model/scheme.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace gpuplan {
namespace {

std::optional<std::int64_t> whole(const Fields& in, Keys keys) { return whole_number_of(in.find(keys)); }
bool is_set(const Fields& in, std::string_view key) { return boolean_of(in.find({key})).value_or(false); }

std::string groups(std::optional<std::int64_t> size) {
  if (!size || *size <= 0) return " over whole rows";
  return " in groups of " + std::to_string(*size);
}

/// `int4-gptq-g128`; a size of -1 is one group a row.
/// @param method  `-gptq`, or empty
FoundFormat integer_groups(std::string_view method, std::optional<std::int64_t> bits,
                           std::optional<std::int64_t> size) {
  if (!bits) return {{}, "without a number of bits", {}};
  FoundFormat found;
  found.detail = "with " + std::to_string(*bits) + " bits" + groups(size);
  found.scheme = "int" + std::to_string(*bits) + std::string(method) +
                 (size && *size > 0 ? "-g" + std::to_string(*size) : std::string("-channel"));
  return found;
}

/// A list that transformers reads as regular expressions may hold plain names and shell patterns as well.
std::string pattern_of(const std::string& name) {
  const bool regex = name.find_first_of("\\([^$+|") != std::string::npos || name.starts_with(".*");
  return regex && !name.starts_with("re:") ? "re:" + name : name;
}

/// GPTQModel's `dynamic`: `-:regex` is left out, `+:regex` or `regex` has settings of its own.
void read_dynamic(const Fields& in, std::optional<std::int64_t> size, FoundFormat& found) {
  const Node* dynamic = in.find({"dynamic"});
  if (!dynamic || dynamic->kind != Node::Kind::mapping) return;
  for (std::size_t i = 0; i < dynamic->items.size(); ++i) {
    std::string_view name = dynamic->keys[i];
    const bool left_out = name.starts_with("-:");
    if (left_out || name.starts_with("+:")) name.remove_prefix(2);
    ModuleRule rule{"re:" + std::string(name), {}};
    if (!left_out) {
      const auto bits = whole_number_of(dynamic->items[i].find("bits"));
      const auto own = whole_number_of(dynamic->items[i].find("group_size"));
      rule.format = bits ? integer_groups("-gptq", bits, own ? own : size).scheme : found.scheme;
    }
    found.rules.push_back(std::move(rule));
  }
}

FoundFormat read_gptq(Fields& in) {
  const auto size = whole(in, {"group_size"});
  FoundFormat found = integer_groups("-gptq", whole(in, {"bits"}), size);
  if (is_set(in, "lm_head")) found.rules.push_back({"lm_head", found.scheme});
  read_dynamic(in, size, found);
  const Node* blocks = in.find({"modules_in_block_to_quantize"});  // a list of lists: all others are left alone
  if (!blocks || blocks->kind != Node::Kind::sequence || blocks->items.empty()) return found;
  for (const Node& block : blocks->items) {
    if (const auto name = string_of(&block)) found.rules.push_back({*name, found.scheme});
    for (const Node& module : block.items) {
      if (const auto name = string_of(&module)) found.rules.push_back({*name, found.scheme});
    }
  }
  found.rules.push_back({"*", {}});
  return found;
}

FoundFormat read_awq(Fields& in) {
  return integer_groups("-awq", whole(in, {"bits", "w_bit"}), whole(in, {"group_size", "q_group_size"}));
}

FoundFormat read_auto_round(Fields& in) {
  const std::string type = in.text({"data_type"});
  const auto bits = whole(in, {"bits"});
  if (type.starts_with("mx_fp")) return {bits == 8 ? "mxfp8" : "mxfp4-linear", {}, {}};
  if (type.starts_with("nv_fp")) return {"nvfp4", {}, {}};
  const bool awq = in.text({"packing_format"}).find("awq") != std::string::npos;
  const std::string_view method = awq ? "-awq" : "-autoround";
  const auto size = whole(in, {"group_size"});
  FoundFormat found = integer_groups(method, bits, size);
  const Node* extra = in.find({"extra_config"});
  if (!extra || extra->kind != Node::Kind::mapping) return found;
  for (std::size_t i = 0; i < extra->items.size(); ++i) {
    const auto own_bits = whole_number_of(extra->items[i].find("bits"));
    const auto own_size = whole_number_of(extra->items[i].find("group_size"));
    ModuleRule rule{pattern_of(extra->keys[i]), {}};
    if (own_bits.value_or(0) < 16)
      rule.format = integer_groups(method, own_bits ? own_bits : bits, own_size ? own_size : size).scheme;
    found.rules.push_back(std::move(rule));
  }
  return found;
}

FoundFormat read_bitsandbytes(Fields& in) {
  if (is_set(in, "load_in_4bit") || is_set(in, "_load_in_4bit")) {
    const std::string type = in.text({"bnb_4bit_quant_type"});
    const bool twice = is_set(in, "bnb_4bit_use_double_quant");
    if (type == "nf4") return {twice ? "nf4" : "nf4-sq", {}, {}};
    if (type.empty() || type == "fp4") return {twice ? "fp4-bnb" : "fp4-bnb-sq", {}, {}};
    return {{}, "in 4 bit of type '" + type + "'", {}};
  }
  if (is_set(in, "load_in_8bit") || is_set(in, "_load_in_8bit")) return {"llm-int8", {}, {}};
  return {{}, "without load_in_4bit or load_in_8bit", {}};
}

/// `weight_block_size` [128, 128], or absent for one scale a tensor.
FoundFormat read_fp8(Fields& in) {
  const Node* block = in.find({"weight_block_size"});
  if (!block) return {"fp8", {}, {}};
  const bool pair = block->kind == Node::Kind::sequence && block->items.size() == 2;
  const auto rows = pair ? whole_number_of(&block->items[0]) : std::nullopt;
  const auto columns = pair ? whole_number_of(&block->items[1]) : std::nullopt;
  if (rows == 128 && columns == 128) return {"fp8-block", {}, {}};
  return {{}, "in blocks other than 128 x 128", {}};
}
FoundFormat read_fp8_rows(Fields& /*in*/) { return {"fp8-channel", {}, {}}; }
FoundFormat read_mxfp4(Fields& /*in*/) { return {"mxfp4", {}, {}}; }
FoundFormat read_mxfp8(Fields& /*in*/) { return {"mxfp8", {}, {}}; }
FoundFormat read_eetq(Fields& /*in*/) { return {"int8-wo", {}, {}}; }

struct AlgorithmRow {
  std::string_view algorithm;
  std::string_view scheme;
};
// ModelOpt's quant_algo
constexpr AlgorithmRow kAlgorithms[] = {
    {"FP8", "fp8"},
    {"FP8_PB_WO", "fp8-block"},
    {"FP8_PB_REAL", "fp8-block"},
    {"NVFP4", "nvfp4"},
    {"W8A8_SQ_PER_CHANNEL", "int8"},
    {"W8A16", "int8-wo"},
    {"NVFP4_AWQ", "nvfp4"},
    {"FP8_PER_CHANNEL_PER_TOKEN", "fp8-channel"},
    {"MXFP8", "mxfp8"},
};

FoundFormat algorithm_format(const std::string& algorithm, std::optional<std::int64_t> size) {
  for (const AlgorithmRow& row : kAlgorithms) {
    if (row.algorithm == algorithm) return {std::string(row.scheme), {}, {}};
  }
  if (algorithm == "W4A16_AWQ") return integer_groups("-awq", 4, size);
  if (algorithm == "W4A8_AWQ") return integer_groups("-w4a8", 4, size ? size : 128);
  return {{}, "by the algorithm '" + algorithm + "'", {}};
}

/// `quantized_layers` lists the modules one by one; what is not in it is in 16 bit. Most of them give the scheme.
FoundFormat read_mixed_modelopt(const Node& layers) {
  FoundFormat found;
  std::map<std::string, std::size_t> members;
  for (std::size_t i = 0; i < layers.items.size(); ++i) {
    const std::string algorithm = string_of(layers.items[i].find("quant_algo")).value_or("");
    std::string format = algorithm_format(algorithm, whole_number_of(layers.items[i].find("group_size"))).scheme;
    if (++members[format] > members[found.scheme] || found.scheme.empty()) found.scheme = format;
    found.rules.push_back({layers.keys[i], std::move(format)});
  }
  found.rules.push_back({"*", {}});
  return found;
}

FoundFormat read_modelopt(Fields& in) {
  const std::string algorithm = in.text({"quant_algo"});
  const Node* layers = in.find({"quantized_layers"});
  if (algorithm == "MIXED_PRECISION" && layers && layers->kind == Node::Kind::mapping && !layers->items.empty())
    return read_mixed_modelopt(*layers);
  return algorithm_format(algorithm, whole(in, {"group_size"}));
}

/// One group of compressed-tensors: `weights` as {num_bits, type, strategy, group_size}.
FoundFormat read_weights_group(const Node& group) {
  const Node* weights = group.find("weights");
  if (!weights) return {{}, "without a description of the weights", {}};
  const auto bits = whole_number_of(weights->find("num_bits"));
  const std::string type = string_of(weights->find("type")).value_or("");
  const std::string strategy = string_of(weights->find("strategy")).value_or("");
  const auto size = whole_number_of(weights->find("group_size"));
  const Node* inputs = group.find("input_activations");
  const bool weight_only = !inputs || inputs->kind == Node::Kind::null;
  if (type == "float" && bits == 8) {
    if (strategy == "group" && size == 32) return {"mxfp8", {}, {}};
    return {strategy == "block" ? "fp8-block" : strategy == "channel" ? "fp8-channel" : "fp8", {}, {}};
  }
  if (type == "float" && bits == 4 && (size == 16 || size == 32))
    return {size == 16 ? "nvfp4" : "mxfp4-linear", {}, {}};
  if (type == "int" && bits == 8 && (strategy == "channel" || strategy == "tensor")) {
    return {weight_only ? "int8-wo" : "int8", {}, {}};
  }
  if (type == "int") {
    const bool zero_points = !boolean_of(weights->find("symmetric")).value_or(true);
    const std::string_view method = zero_points ? "-awq" : weight_only ? "" : "-w4a8";  // packed in either case
    return integer_groups(method, bits, strategy == "group" ? size : std::nullopt);
  }
  return {{}, "in " + std::to_string(bits.value_or(0)) + " bits of type '" + type + "'", {}};
}

/// Targets are classes (`Linear`) or modules. The group of all linears gives the scheme, the others rules; where there is none,
/// what no target names is not quantized.
FoundFormat read_compressed_tensors(Fields& in) {
  const Node* list = in.find({"config_groups"});
  if (!list || list->items.empty()) return {{}, "without config_groups", {}};
  FoundFormat found;
  bool all_linears = false;
  for (const Node& group : list->items) {
    FoundFormat own = read_weights_group(group);
    const Node* targets = group.find("targets");
    bool of_class = !targets;
    if (targets) {
      for (const Node& target : targets->items) {
        const std::string name = string_of(&target).value_or("");
        if (name == "Linear") {
          of_class = true;
        } else if (!name.empty()) {
          found.rules.push_back({name, own.scheme});
        }
      }
    }
    if (own.scheme.empty()) return own;
    if (of_class && all_linears && own.scheme != found.scheme) return {{}, "in several formats", {}};
    if (of_class || found.scheme.empty()) found.scheme = own.scheme;
    all_linears = all_linears || of_class;
  }
  if (!all_linears) found.rules.push_back({"*", {}});
  return found;
}

FoundFormat read_hqq(Fields& in) {
  const Node* settings = in.find({"quant_config"});
  const Node* weights = settings ? settings->find("weight_quant_params") : nullptr;
  const auto bits = weights ? whole_number_of(weights->find("nbits")) : whole(in, {"nbits"});
  const auto size = weights ? whole_number_of(weights->find("group_size")) : whole(in, {"group_size"});
  if (!bits) return {{}, "without nbits", {}};
  return {
      "hqq-" + std::to_string(*bits) + "bit" + (size && *size > 0 ? "-g" + std::to_string(*size) : "-channel"), {}, {}};
}

FoundFormat read_aqlm(Fields& in) {
  const auto books = whole(in, {"num_codebooks"});
  const auto bits = whole(in, {"nbits_per_codebook"});
  const auto size = whole(in, {"in_group_size"});
  if (!books || !bits || !size) return {{}, "without its codebooks", {}};
  return {"aqlm-" + std::to_string(*books) + "x" + std::to_string(*bits) + "-g" + std::to_string(*size), {}, {}};
}

FoundFormat read_exl(Fields& in, std::string_view kind) {
  const Node* bits = in.find({"bits"});
  if (!bits || bits->kind != Node::Kind::scalar) return {{}, "without a number of bits", {}};
  FoundFormat found{std::string(kind) + ":" + bits->scalar, "with " + bits->scalar + " bits", {}};
  if (const auto head = whole(in, {"head_bits"})) found.scheme += "-h" + std::to_string(*head);
  return found;
}
FoundFormat read_exl2(Fields& in) { return read_exl(in, "exl2"); }
FoundFormat read_exl3(Fields& in) { return read_exl(in, "exl3"); }

/// MLX: modules with settings of their own stand beside the general ones.
FoundFormat read_mlx(Fields& in) {
  const auto name = [](std::optional<std::int64_t> bits, std::optional<std::int64_t> size) {
    return "mlx-" + std::to_string(bits.value_or(0)) + "bit-g" + std::to_string(size.value_or(64));
  };
  const auto bits = whole(in, {"bits"});
  const auto size = whole(in, {"group_size"});
  FoundFormat found{name(bits, size), "with " + std::to_string(bits.value_or(0)) + " bits" + groups(size), {}};
  const Node& settings = in.node();
  for (std::size_t i = 0; i < settings.items.size(); ++i) {
    const Node& value = settings.items[i];
    if (boolean_of(&value) == false) found.rules.push_back({settings.keys[i], {}});
    if (value.kind != Node::Kind::mapping) continue;
    const auto own = whole_number_of(value.find("bits"));
    const auto own_size = whole_number_of(value.find("group_size"));
    found.rules.push_back({settings.keys[i], name(own ? own : bits, own_size ? own_size : size)});
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
    {"mxfp8", read_mxfp8},
    {"modelopt", read_modelopt},
    {"modelopt_fp4", read_modelopt},
    {"modelopt_fp8", read_modelopt},
    {"modelopt_mixed", read_modelopt},
    {"compressed-tensors", read_compressed_tensors},
    {"compressed_tensors", read_compressed_tensors},
    {"hqq", read_hqq},
    {"aqlm", read_aqlm},
    {"exl2", read_exl2},
    {"exl3", read_exl3},
    {"eetq", read_eetq},
    {"mlx", read_mlx},
};

}  // namespace

ReadMethod find_method(std::string_view method) {
  for (const MethodRow& row : kMethods) {
    if (row.method == method) return row.read;
  }
  return nullptr;
}

std::string implied_method(const Fields& in) {
  if (in.has({"quant_algo"})) return "modelopt";
  if (in.has({"load_in_4bit", "load_in_8bit", "_load_in_4bit", "_load_in_8bit"})) return "bitsandbytes";
  if (in.has({"config_groups"})) return "compressed-tensors";
  if (in.has({"w_bit"})) return "awq";
  if (in.has({"desc_act", "sym", "damp_percent", "true_sequential"}) && in.has({"bits"})) return "gptq";
  if (in.has({"bits"})) return in.has({"group_size"}) ? "mlx" : "gptq";
  return {};
}

std::vector<ModuleRule> unquantized_modules(const Fields& in) {
  std::vector<ModuleRule> rules;
  for (const std::string_view key : {"ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers",
                                     "llm_int8_skip_modules", "skip_modules", "linear_weights_not_to_quantize"}) {
    for (const std::string& module : in.texts(key)) {
      if (!module.empty()) rules.push_back({pattern_of(module), {}});
    }
  }
  return rules;
}

}  // namespace gpuplan
