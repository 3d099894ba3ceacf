#pragma once
/// A small calculator for `--assert` and for executing the formulas that `--explain` records.
///
/// Grammar, loosest first: `a || b`, `a && b`, comparison (`< <= > >= == !=`), `+ -`, `* /`, unary `- !`, `^` (power, right
/// associative), calls (`min max ceil floor round sqrt exp log abs`; min and max take one or more arguments), numbers
/// (`1.5`, `2e9`), strings ("…" or '…', only compared by == and !=), `true`, `false`, `null`, and names with dots and
/// indices (`best.cost.per_hour`, `options[0].count`), which the caller resolves. Comparisons and logic give 1 or 0.
/// A comparison with null is false, except `== null` and `!= null`.
///
/// Errors are `InputError` with id `expression.syntax`, `expression.unknown_name` or `expression.type`, placed at the
/// column in the text.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace gpuplan {

using ExpressionValue = std::variant<std::monostate, double, bool, std::string>;  ///< monostate is null

/// Gives the value of a dotted name; nullopt when there is no such name.
using NameLookup = std::function<std::optional<ExpressionValue>(std::string_view name)>;

/// @param origin  what to call the text in errors: `--assert`
ExpressionValue evaluate_expression(std::string_view text, const NameLookup& lookup, std::string_view origin);

/// The number an expression gives; true is 1. Throws `expression.type` for strings and null.
double evaluate_number(std::string_view text, const NameLookup& lookup, std::string_view origin);

/// Whether the expression holds. Throws `expression.type` unless the outcome is a truth value.
bool evaluate_condition(std::string_view text, const NameLookup& lookup, std::string_view origin);

}  // namespace gpuplan
