#include <gpuplan/base/explain.hpp>

#include <utility>

namespace gpuplan {

void Explain::term(std::string_view id, double value, std::string_view formula, std::vector<ExplainInput> inputs,
                   Unit unit) {
  ExplainedTerm term;
  term.id = id;
  term.value = value;
  term.unit = unit;
  term.formula = formula;
  term.inputs = std::move(inputs);
  terms_.push_back(std::move(term));
}

}  // namespace gpuplan
