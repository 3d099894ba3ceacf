#pragma once
/// Text without meaning: names and their likeness, numbers as people read them, widths, wrapping.

#include <gpuplan/base/explain.hpp>
#include <gpuplan/base/units.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

/// The key a name is looked up by: lower case, without spaces, '-' and '_'.
std::string lookup_key(std::string_view name);

/// Levenshtein distance with adjacent transpositions, on bytes, lower-cased.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, or empty when none is near enough to be meant (distance over a third of the length).
std::string nearest_name(std::string_view name, std::span<const std::string_view> candidates);

std::string join(std::span<const std::string> parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);  ///< trimmed, empty parts dropped
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);

/// Columns a terminal shows for UTF-8 text (combining marks 0, CJK 2).
int display_width(std::string_view text);
/// Lines of at most `width` columns, broken at spaces.
std::vector<std::string> wrap(std::string_view text, int width);
/// Valid UTF-8 without overlong forms, surrogates and values past U+10FFFF.
bool is_utf8(std::string_view text);

/// Three significant digits and a unit people use: `39.8 GB`, `3.35 TB/s`, `12.4 ms`.
std::string format_bytes(Bytes value);         ///< decimal: GB
std::string format_binary_bytes(Bytes value);  ///< GiB
std::string format_seconds(Seconds value);
std::string format_quantity(double base_value, Unit unit);
std::string format_significant(double value,
                               int digits);  ///< 1234 -> 1,234; 0.0123 -> 0.0123; never scientific below 1e15
std::string format_shortest(double value);   ///< the shortest text that reads back as the same number
std::string format_whole(double value);      ///< 4,096
std::string format_count(double value);      ///< 70.6 B, 4,096

}  // namespace gpuplan
