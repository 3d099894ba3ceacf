#include <gpuplan/model/stored_scheme.hpp>

#include "module_names.hpp"

#include <gpuplan/model/ggml_types.hpp>
#include <gpuplan/model/network.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

Bytes whole(const TensorGroup& group, const Storage& storage) {
  return as_double(group.count) * stored_bytes(storage, as_double(group.rows), as_double(group.columns));
}

/// As many bits an element as make up `size`.
Storage average(const TensorGroup& group, Bytes size) {
  return {.bits = 8 * (size / bytes(1)) / (as_double(group.count) * as_double(group.rows) * as_double(group.columns))};
}

void add_group(Scheme& scheme, const TensorGroup& group, const Storage& storage) {
  scheme.groups.push_back({group.name, group.rows, group.columns, storage});
}

void resolve_gguf(Scheme& scheme, const Architecture& a, std::span<const TensorGroup> tensors) {
  const std::string_view name = std::string_view(scheme.name).substr(std::string_view("gguf:").size());
  const auto file_type = parse_ggml_file_type(name).value;
  const auto type = file_type ? std::nullopt : parse_ggml_type(name).value;
  if (!file_type && !type) return;
  for (const TensorGroup& group : tensors) {
    const Bytes size = file_type ? gguf_group_bytes(a, group, *file_type) : gguf_group_bytes(a, group, *type);
    add_group(scheme, group, average(group, size));
  }
}

/// The layers that a group may stand in, and how many do.
struct LayerRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::int64_t have = 0;
};

/// Plain MLPs in front of the layers with experts; nothing when how they alternate is not known.
std::optional<std::int64_t> leading_plain_layers(const Architecture& a) {
  constexpr std::int64_t kMostInFront = 8;  // with more of them, every second or third layer is plain
  if (a.mlps.empty()) return a.dense_layers;
  const bool plain_first = a.mlps.size() == 2 && !a.mlps[0].mlp.has_experts() && a.mlps[1].mlp.has_experts();
  if (plain_first && a.mlps[0].layers <= kMostInFront) return a.mlps[0].layers;
  return std::nullopt;
}

LayerRange layers_of(const TensorGroup& group, const Architecture& a) {
  constexpr std::int64_t kMostLayers = 4096;  // nobody has more
  if (group.layers <= 0) return {};
  LayerRange range{0, std::max(a.layers, group.layers), group.layers};
  const bool expert = group.role == TensorRole::expert || group.role == TensorRole::shared_expert;
  const auto plain = leading_plain_layers(a);
  if (plain && expert) range.first = std::min(*plain, range.end - 1);
  if (plain && group.role == TensorRole::mlp && *plain > 0) range.end = group.layers;
  range.end = std::min(range.end, range.first + kMostLayers);
  return range;
}

/// How large a share of a group each rule stores otherwise. Which layers the group stands in may not be known: then all
/// layers that a rule names are taken to have it.
class GroupShares {
 public:
  GroupShares(ModuleRuleSet& rules, const Architecture& a) : rules_(rules), a_(a) {}

  /// By format; an empty one is not quantized.
  std::map<std::string, double> of(const TensorGroup& group) {
    const std::vector<ModuleAliases> modules = modules_of(group);
    const LayerRange range = layers_of(group, a_);
    const std::int64_t layers = std::max<std::int64_t>(1, range.end - range.first);
    const double all = as_double(layers) * as_double(static_cast<std::int64_t>(modules.size()));
    std::map<std::string, double> found;
    for (std::int64_t i = 0; i < layers; ++i) {
      for (const ModuleAliases& aliases : modules) {
        const ModuleRule* rule = rules_.find(aliases, group.layers > 0 ? range.first + i : -1);
        if (rule) found[rule->format] += 1;
      }
    }
    double named = 0;
    for (const auto& [format, count] : found) named += count;
    const double there = named >= all ? all : std::min(all, all * as_double(range.have) / as_double(layers));
    for (auto& [format, count] : found) count = group.layers > 0 ? std::min(1.0, count / there) : count / all;
    return found;
  }

 private:
  ModuleRuleSet& rules_;
  const Architecture& a_;
};

/// Storage of linears by the names of formats, each parsed once.
class Formats {
 public:
  /// @param unquantized  what an empty name stands for
  const Storage& storage(const std::string& format, const TensorGroup& group, const Storage& unquantized) {
    if (format.empty()) return unquantized;
    auto [entry, is_new] = schemes_.try_emplace(format);
    if (is_new) entry->second = parse_scheme(format).value;
    if (!entry->second) return unquantized;
    return group.role == TensorRole::expert ? entry->second->expert : entry->second->linear;
  }

 private:
  std::map<std::string, std::optional<Scheme>> schemes_;
};

void apply_rules(Scheme& scheme, const Architecture& a, std::span<const TensorGroup> tensors,
                 std::span<const ModuleRule> rules) {
  ModuleRuleSet set(rules);
  GroupShares shares(set, a);
  Formats formats;
  const Storage rest = scheme.rest;
  for (const TensorGroup& group : tensors) {
    const bool table = group.role == TensorRole::head || group.role == TensorRole::embedding;
    if (!group.is_linear() && !table) continue;
    std::map<std::string, double> found = shares.of(group);
    if (table) found.erase(std::string());  // in 16 bit anyway
    if (found.empty()) continue;
    double left = 1;
    Bytes size;
    for (const auto& [format, share] : found) {
      size += share * whole(group, formats.storage(format, group, rest));
      left -= share;
    }
    if (left <= 0 && found.size() == 1) {
      add_group(scheme, group, formats.storage(found.begin()->first, group, rest));
    } else {
      size += std::max(0.0, left) * whole(group, storage_of(group, scheme));
      add_group(scheme, group, average(group, size));
    }
  }
}

struct PartWords {
  std::string_view part;
  std::array<std::string_view, 5> words;
};
constexpr PartWords kPartWords[] = {
    {"vision", {"visual", "vision", "vit", "image", "siglip"}},
    {"projector", {"projector", "merger", "mlp1", "connector", "aligner"}},
    {"audio", {"audio", "speech", "sound", "whisper", "conformer"}},
};

/// Whether quantizers leave a part beside a language model alone: all do but bitsandbytes, and that one when it is told.
bool is_kept(const NetworkPart& part, const Scheme& scheme, const ModuleRuleSet& rules) {
  if (!part.quantized) return true;
  if (scheme.kernel != "nf4" && scheme.name != "llm-int8") return true;
  for (const PartWords& row : kPartWords) {
    if (part.name.find(row.part) != std::string::npos && rules.names_part(row.words)) return true;
  }
  return false;
}

Scheme kept_scheme(const Scheme& scheme) {
  Scheme kept = scheme;
  const bool wide = scheme.rest.bits > 16 && scheme.linear.bits >= 32;
  const Storage plain{.bits = wide ? 32.0 : 16.0};
  kept.linear = kept.expert = kept.embedding = kept.head = kept.rest = plain;
  kept.groups.clear();
  return kept;
}

}  // namespace

Scheme resolve_scheme(Scheme scheme, const Architecture& architecture, std::span<const TensorGroup> tensors,
                      std::span<const ModuleRule> rules) {
  scheme.groups.clear();
  if (scheme.name.starts_with("gguf:")) {
    resolve_gguf(scheme, architecture, tensors);
  } else if (!rules.empty()) {
    apply_rules(scheme, architecture, tensors, rules);
  }
  return scheme;
}

Scheme part_scheme(const Network& network, const NetworkPart& part, const Scheme& scheme,
                   std::span<const ModuleRule> rules) {
  if (!part.format.empty()) {
    if (auto own = parse_scheme(part.format).value) return std::move(*own);
  }
  if (network.decoder && part.name == kLanguageModel) {
    return resolve_scheme(scheme, *network.decoder, part.tensors, rules);
  }
  const bool beside = network.decoder.has_value();
  const bool kept = beside ? is_kept(part, scheme, ModuleRuleSet(rules)) : !part.quantized;
  if (kept) return kept_scheme(scheme);
  return resolve_scheme(scheme, Architecture{}, part.tensors, rules);
}

Bytes weights_bytes(const Network& network, const Scheme& scheme, std::span<const ModuleRule> rules) {
  Bytes total;
  for (const NetworkPart& part : network.parts) {
    if (part.loaded) total += weights_bytes(part.tensors, part_scheme(network, part, scheme, rules));
  }
  return total;
}

}  // namespace gpuplan
