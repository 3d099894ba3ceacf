#pragma once
/// The one place where text becomes a number, a size, a time or a date: flags and files share these.
///
/// All refuse empty text, overflow, NaN, Infinity, octal and hex, and say what was expected. Suffixes ignore case except
/// where the field tells them apart (`b` bit is not accepted for sizes).

#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/units.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuplan {

/// A calendar day (proleptic Gregorian).
struct Date {
  int year = 0;
  int month = 0;
  int day = 0;  ///< 0 when only the month is known; counts as the first of the month in differences
  friend auto operator<=>(const Date&, const Date&) = default;
};
/// Days from `from` to `to`, negative when `to` is earlier.
std::int64_t days_between(const Date& from, const Date& to);
std::string to_string(const Date& date);  ///< 2026-09-20, or 2026-09 when the day is unknown

Parsed<std::string> parse_text(std::string_view text);     ///< anything but empty
Parsed<bool> parse_bool(std::string_view text);            ///< true/false/yes/no
Parsed<double> parse_number(std::string_view text);        ///< finite, with optional exponent; no suffix
Parsed<double> parse_positive(std::string_view text);      ///< > 0, with optional suffix k M B G T: `1.5T` is 1.5e12
Parsed<double> parse_non_negative(std::string_view text);  ///< >= 0, no suffix
Parsed<double> parse_share(std::string_view text);         ///< 0 to 1: `0.5` or `50%`
Parsed<std::int64_t> parse_count(
    std::string_view text);  ///< >= 1, whole, suffixes k M B G T (decimal): `128k` is 128000
Parsed<std::int64_t> parse_count_or_zero(std::string_view text);  ///< >= 0
Parsed<Bytes> parse_bytes(std::string_view text);       ///< `80GB`, `24GiB`, `512MiB`, `1.5TB`; a unit is required
Parsed<Seconds> parse_duration(std::string_view text);  ///< `36h`, `30d`, `250ms`, `90s`, `15min`; a unit is required
Parsed<Date> parse_date(std::string_view text);         ///< `2026-09-20` or `2026-09`

}  // namespace gpuplan
