#pragma once
/// What checkpoints call the modules of our tensor groups, and rules over those names.

#include "module_pattern.hpp"

#include <gpuplan/model/stored_scheme.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// One matrix of a group by all names that libraries give it, without the layer: `self_attn.q_proj`, `attention.wq`.
using ModuleAliases = std::vector<std::string_view>;

/// The matrices that make up a group in one layer; of experts the first one's.
/// @param group  lives as long as the result
std::vector<ModuleAliases> modules_of(const TensorGroup& group);

/// Rules, ready to be asked.
class ModuleRuleSet {
 public:
  explicit ModuleRuleSet(std::span<const ModuleRule> rules);

  /// The first rule that fits one of the names; null when none does.
  /// @param layer  from 0; -1: the module stands outside the layers
  const ModuleRule* find(const ModuleAliases& aliases, std::int64_t layer);
  /// Whether a rule names a part beside the language model by one of these words.
  [[nodiscard]] bool names_part(std::span<const std::string_view> words) const;

 private:
  struct Compiled {
    std::size_t index = 0;
    std::string pattern;  ///< brought to the form `model.layers.3.…`
    std::optional<ModuleRegex> regex;
    bool glob = false;
  };
  [[nodiscard]] bool fits(const Compiled& rule, const std::string& name);
  void add(std::size_t index, std::string_view pattern);

  std::span<const ModuleRule> rules_;
  std::vector<Compiled> general_;
  std::map<std::int64_t, std::vector<Compiled>> by_layer_;  ///< those that name their layer
  MatchBudget budget_;
};

}  // namespace gpuplan
