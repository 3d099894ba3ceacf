#pragma once
/// The recorder behind `--explain`.
///
/// A term is computed by one pure function that takes `Explain* why`. The search passes null; the plan that is shown is
/// evaluated again with a recorder, and a test executes every recorded formula with the recorded inputs:
///
///     if (why) why->term("memory.kv_cache", total, "2 * layers * kv_heads", {{"layers", 80}, {"kv_heads", 8}});

#include <gpuplan/base/units.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuplan {

/// How to print a number of base units.
enum class Unit {
  none,
  bytes,
  seconds,
  flop,
  tokens,
  bytes_per_second,
  flop_per_second,
  tokens_per_second,
  watts,
  money
};

struct ExplainInput {
  std::string name;
  double value = 0;  ///< base units
  Unit unit = Unit::none;
  std::string source;  ///< where a catalogued fact is from; empty for what was asked or computed

  ExplainInput(std::string_view n, double v, std::string_view from = {}) : name(n), value(v), source(from) {}
  ExplainInput(std::string_view n, Bytes v, std::string_view from = {})
      : name(n), value(v.base()), unit(Unit::bytes), source(from) {}
  ExplainInput(std::string_view n, Seconds v, std::string_view from = {})
      : name(n), value(v.base()), unit(Unit::seconds), source(from) {}
  ExplainInput(std::string_view n, Flop v, std::string_view from = {})
      : name(n), value(v.base()), unit(Unit::flop), source(from) {}
  ExplainInput(std::string_view n, Tokens v, std::string_view from = {})
      : name(n), value(v.base()), unit(Unit::tokens), source(from) {}
  ExplainInput(std::string_view n, BytesPerSecond v, std::string_view from = {})
      : name(n), value(v.base()), unit(Unit::bytes_per_second), source(from) {}
  ExplainInput(std::string_view n, FlopPerSecond v, std::string_view from = {})
      : name(n), value(v.base()), unit(Unit::flop_per_second), source(from) {}
  ExplainInput(std::string_view n, TokensPerSecond v, std::string_view from = {})
      : name(n), value(v.base()), unit(Unit::tokens_per_second), source(from) {}
};

struct ExplainedTerm {
  std::string id;  ///< stable, dotted: `memory.kv_cache`
  double value = 0;
  Unit unit = Unit::none;
  std::string formula;  ///< executable by base/expression with `inputs`
  std::vector<ExplainInput> inputs;
};

class Explain {
 public:
  void term(std::string_view id, double value, std::string_view formula, std::vector<ExplainInput> inputs,
            Unit unit = Unit::none);
  template <int B, int F, int S, int T, int J>
  void term(std::string_view id, Quantity<B, F, S, T, J> value, std::string_view formula,
            std::vector<ExplainInput> inputs) {
    term(id, value.base(), formula, std::move(inputs), ExplainInput("", value).unit);
  }
  [[nodiscard]] const std::vector<ExplainedTerm>& terms() const { return terms_; }

 private:
  std::vector<ExplainedTerm> terms_;
};

}  // namespace gpuplan
