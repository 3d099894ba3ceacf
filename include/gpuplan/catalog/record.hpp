#pragma once
/// What every record of `data/*.yaml` is made of, beside facts: texts, and marks of fields that are none.
///
/// Texts are views into the built-in data or into the Catalog that read them.

#include <gpuplan/catalog/fact.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace gpuplan {

using Text = std::string_view;
using Texts = std::span<const std::string_view>;

/// How a field that is no Fact (a text, a word, a flag) is known, where that differs from its record.
struct FieldMark {
  Text field;  ///< its name in YAML
  Mark mark = Mark::published;
  SourceId source = 0;
};
using FieldMarks = std::span<const FieldMark>;

}  // namespace gpuplan
