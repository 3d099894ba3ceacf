#pragma once
/// What each quantizer writes into its settings.

#include "fields.hpp"

#include <gpuplan/model/stored_scheme.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct FoundFormat {
  std::string scheme;             ///< a candidate name, or empty
  std::string detail;             ///< `with 4 bits in groups of 64`, when it is none of ours
  std::vector<ModuleRule> rules;  ///< before the lists of modules that stay unquantized
};
using ReadMethod = FoundFormat (*)(Fields& in);

/// Null when the method is not known.
/// @param method  `quant_method`, or one that implied_method names
ReadMethod find_method(std::string_view method);

/// The method of settings that name none: old exports of each library. Empty when they say no weight format.
std::string implied_method(const Fields& in);

/// The lists of modules that stay unquantized, under all the keys that they have.
std::vector<ModuleRule> unquantized_modules(const Fields& in);

}  // namespace gpuplan
