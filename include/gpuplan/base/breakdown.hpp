#pragma once
/// Named terms that add up. Memory, time and money are returned so, never as one number.

#include <string_view>
#include <vector>

namespace gpuplan {

template <class Q>
struct BreakdownTerm {
  std::string_view id;  ///< a literal: `weights`, `compute`
  Q value{};
  Q low{};   ///< 10 % quantile; equal to `value` where nothing is uncertain
  Q high{};  ///< 90 % quantile
};

template <class Q>
class Breakdown {
 public:
  void add(std::string_view id, Q value) { add(id, value, value, value); }
  void add(std::string_view id, Q value, Q low, Q high) {
    terms_.push_back({id, value, low, high});
    total_ += value;
    low_ += low;
    high_ += high;
  }
  [[nodiscard]] const std::vector<BreakdownTerm<Q>>& terms() const { return terms_; }
  [[nodiscard]] Q total() const { return total_; }
  /// Bounds as if all terms erred together, the careful reading.
  [[nodiscard]] Q low() const { return low_; }
  [[nodiscard]] Q high() const { return high_; }
  [[nodiscard]] Q of(std::string_view id) const {
    for (const auto& term : terms_) {
      if (term.id == id) return term.value;
    }
    return Q{};
  }

 private:
  std::vector<BreakdownTerm<Q>> terms_;
  Q total_{};
  Q low_{};
  Q high_{};
};

}  // namespace gpuplan
