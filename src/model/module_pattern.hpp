#pragma once
/// Patterns over the names of modules: of a shell (`*`, `?`) and regular expressions (those of Python that checkpoints use).
///
/// Patterns come out of files of strangers: matching counts its steps and gives up, as if nothing fitted, when they are spent.

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gpuplan {

/// Steps that all matching of one network may take.
struct MatchBudget {
  std::int64_t steps = 20000000;
  bool spend(std::int64_t n = 1) { return (steps -= n) > 0; }
};

/// Whether the whole name fits.
bool glob_matches(std::string_view pattern, std::string_view name, MatchBudget& budget);

/// Whether `part` stands in `name` between dots or ends: `mlp.gate` in `model.layers.0.mlp.gate`, not in `mlp.gate_proj`.
bool has_module_path(std::string_view name, std::string_view part);

/// Literals, `.`, classes, groups with alternatives, `* + ? {m,n}`, `^ $`, `\d \w \s` and look-ahead.
class ModuleRegex {
 public:
  /// Nothing when the expression is not one or needs more than this.
  static std::optional<ModuleRegex> compile(std::string_view pattern);
  /// From the beginning of the name, not necessarily to its end, as Python's re.match.
  [[nodiscard]] bool matches(std::string_view name, MatchBudget& budget) const;

 private:
  enum class Kind : std::uint8_t { set, group, start, end, ahead, not_ahead };
  struct Item;
  using Sequence = std::vector<Item>;
  struct Item {
    Kind kind = Kind::set;
    std::bitset<256> set;                ///< characters of `set`
    std::vector<Sequence> alternatives;  ///< of groups and look-ahead
    int least = 1;
    int most = 1;
  };
  class Parser;
  class Matcher;
  std::vector<Sequence> alternatives_;
};

}  // namespace gpuplan
