#pragma once
/// Executes what `--explain` records.

#include "catch.hpp"

#include <gpuplan/base/explain.hpp>
#include <gpuplan/base/expression.hpp>

#include <optional>
#include <string>

namespace gpuplan::testing {

/// The value of a recorded formula with its recorded inputs.
inline double executed(const ExplainedTerm& term) {
  const auto lookup = [&](std::string_view name) -> std::optional<ExpressionValue> {
    for (const ExplainInput& input : term.inputs) {
      if (input.name == name) return ExpressionValue{input.value};
    }
    return std::nullopt;
  };
  return evaluate_number(term.formula, lookup, term.id);
}

/// Every recorded formula gives the recorded value.
inline void check_formulas(const Explain& why) {
  REQUIRE_FALSE(why.terms().empty());
  for (const ExplainedTerm& term : why.terms()) {
    CAPTURE(term.id, term.formula);
    CHECK(executed(term) == Approx(term.value).epsilon(1e-9).margin(1e-15));
  }
}

}  // namespace gpuplan::testing
