#include <gpuplan/base/parse.hpp>

#include "source.hpp"

#include <gpuplan/base/text.hpp>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace gpuplan {
namespace {

constexpr double kMaxCount = 9e15;  // every whole number up to here is a double
constexpr std::string_view kCountExpected = "a whole number, 1 or more (k, M, B, G and T may follow)";
constexpr std::string_view kCountOrZeroExpected = "a whole number, 0 or more (k, M, B, G and T may follow)";
constexpr std::string_view kBytesExpected = "a size with its unit, such as 80GB, 24GiB, 512MiB or 1.5TB";
constexpr std::string_view kDurationExpected = "a time with its unit, such as 250ms, 90s, 15min, 36h or 30d";
constexpr std::string_view kDateExpected = "a day such as 2026-09-20, or a month such as 2026-09 (1900 to 2200)";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t count_digits(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n;
}

/// A decimal number at the beginning of a text, and what follows it.
struct Leading {
  std::string_view mantissa;  ///< with its sign
  int exponent = 0;
  std::string_view rest;
};

/// `-`? digits ( `.` digits )? ( `e` sign? digits )?, also `.5`; no sign `+`, no zero before another digit.
std::optional<Leading> take_number(std::string_view text) {
  std::size_t end = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = count_digits(text.substr(end));
  if (whole > 1 && text[end] == '0') return std::nullopt;
  end += whole;
  std::size_t fraction = 0;
  if (end < text.size() && text[end] == '.') {
    fraction = count_digits(text.substr(end + 1));
    if (fraction == 0) return std::nullopt;
    end += 1 + fraction;
  }
  if (whole + fraction == 0) return std::nullopt;
  Leading out{text.substr(0, end), 0, text.substr(end)};
  if (!out.rest.empty() && (out.rest[0] == 'e' || out.rest[0] == 'E')) {
    std::string_view digits = out.rest.substr(1);
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) digits.remove_prefix(1);
    const std::size_t length = count_digits(digits);
    if (length == 0) return std::nullopt;
    const auto result = std::from_chars(digits.data(), digits.data() + length, out.exponent);
    if (result.ec != std::errc() || out.exponent > 99999) out.exponent = 99999;
    if (negative) out.exponent = -out.exponent;
    out.rest = digits.substr(length);
  }
  return out;
}

enum class Reading { ok, too_large, too_small };

/// The number times 10^shift, rounded once: 1.001k is 1001, not 1000.9999999999999.
Reading to_double(const Leading& number, int shift, double& value) {
  const std::string text = fmt::format("{}e{}", number.mantissa, number.exponent + shift);
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc() && std::isfinite(value)) return Reading::ok;
  return number.exponent + shift < 0 ? Reading::too_small : Reading::too_large;
}

template <class T>
Parsed<T> fail(std::string_view what, std::string_view text, std::string_view expected, std::string nearest = {}) {
  if (text.empty()) return Parsed<T>::fail("empty " + std::string(what), std::string(expected));
  return Parsed<T>::fail("bad " + std::string(what) + " " + quote(text), std::string(expected), std::move(nearest));
}

template <class T>
Parsed<T> fail_range(Reading reading, std::string_view what, std::string_view text, std::string_view expected) {
  return Parsed<T>::fail(
      std::string(what) + " " + quote(text) + (reading == Reading::too_large ? " is too large" : " is too small"),
      std::string(expected));
}

/// One space may stand between a number and its unit.
std::string_view unit_of(std::string_view rest) {
  if (rest.size() > 1 && rest[0] == ' ') rest.remove_prefix(1);
  return rest;
}

/// The power of ten of `k M B G T` in either case.
std::optional<int> suffix_exponent(std::string_view rest) {
  if (rest.empty()) return 0;
  const std::string_view unit = unit_of(rest);
  if (unit.size() != 1) return std::nullopt;
  switch (unit[0]) {
    case 'k':
    case 'K':
      return 3;
    case 'm':
    case 'M':
      return 6;
    case 'b':
    case 'B':
    case 'g':
    case 'G':
      return 9;
    case 't':
    case 'T':
      return 12;
    default:
      return std::nullopt;
  }
}

Parsed<double> number_with(std::string_view text, bool suffix, std::string_view expected) {
  const auto number = take_number(text);
  if (!number) return fail<double>("number", text, expected);
  const auto shift = suffix ? suffix_exponent(number->rest) : std::optional(0);
  if (!shift || (!suffix && !number->rest.empty())) return fail<double>("number", text, expected);
  double value = 0;
  const Reading reading = to_double(*number, *shift, value);
  if (reading != Reading::ok) return fail_range<double>(reading, "number", text, expected);
  return Parsed<double>::ok(value);
}

Parsed<std::int64_t> whole_number(std::string_view text, double least, std::string_view expected) {
  const Parsed<double> number = number_with(text, true, expected);
  if (!number.value) return Parsed<std::int64_t>::fail(number.message, number.expected);
  if (*number.value < least || *number.value - std::floor(*number.value) > 0 || std::signbit(*number.value)) {
    return fail<std::int64_t>("number", text, expected);
  }
  if (*number.value > kMaxCount) return fail_range<std::int64_t>(Reading::too_large, "number", text, expected);
  return Parsed<std::int64_t>::ok(static_cast<std::int64_t>(*number.value));
}

struct NamedUnit {
  std::string_view name;
  double factor;
};

constexpr std::array kByteUnits = {
    NamedUnit{"B", 1},        NamedUnit{"kB", 1e3},     NamedUnit{"MB", 1e6},     NamedUnit{"GB", 1e9},
    NamedUnit{"TB", 1e12},    NamedUnit{"PB", 1e15},    NamedUnit{"KiB", 0x1p10}, NamedUnit{"MiB", 0x1p20},
    NamedUnit{"GiB", 0x1p30}, NamedUnit{"TiB", 0x1p40}, NamedUnit{"PiB", 0x1p50},
};

constexpr std::array kTimeUnits = {
    NamedUnit{"ns", 1e-9},    NamedUnit{"us", 1e-6},     NamedUnit{"µs", 1e-6},        NamedUnit{"ms", 1e-3},
    NamedUnit{"s", 1},        NamedUnit{"sec", 1},       NamedUnit{"second", 1},       NamedUnit{"seconds", 1},
    NamedUnit{"min", 60},     NamedUnit{"minute", 60},   NamedUnit{"minutes", 60},     NamedUnit{"h", 3600},
    NamedUnit{"hour", 3600},  NamedUnit{"hours", 3600},  NamedUnit{"d", 86400},        NamedUnit{"day", 86400},
    NamedUnit{"days", 86400}, NamedUnit{"w", 7 * 86400}, NamedUnit{"week", 7 * 86400}, NamedUnit{"weeks", 7 * 86400},
};

const NamedUnit* find_unit(std::span<const NamedUnit> units, std::string_view name) {
  for (const NamedUnit& unit : units) {
    if (to_lower(unit.name) == to_lower(name)) return &unit;
  }
  return nullptr;
}

/// The number before a unit, in the unit's own measure: a time of 1.1ms is 1.1 / 1000, a size of 1.5TB 1.5 * 10^12.
template <class T>
Parsed<T> scaled(std::string_view what, std::string_view text, const Leading& number, double factor,
                 std::string_view expected) {
  double value = 0;
  const Reading reading = to_double(number, 0, value);
  if (reading != Reading::ok) return fail_range<T>(reading, what, text, expected);
  if (std::signbit(value)) return fail<T>(what, text, expected);
  value = factor < 1 ? value / std::round(1 / factor) : value * factor;
  if (!std::isfinite(value)) return fail_range<T>(Reading::too_large, what, text, expected);
  return Parsed<T>::ok(T::from_base(value));
}

std::optional<int> exact_digits(std::string_view text, std::size_t length) {
  if (text.size() != length || count_digits(text) != length) return std::nullopt;
  int value = 0;
  std::from_chars(text.data(), text.data() + length, value);
  return value;
}

bool is_leap_year(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_in_month(int year, int month) {
  constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

/// Days since 1970-01-01, by counting in years that begin in March, so that the leap day is a year's last.
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
std::int64_t day_number(const Date& date) {
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t month = date.month > 2 ? date.month - 3 : date.month + 9;
  const std::int64_t day_of_year = (153 * month + 2) / 5 + (date.day > 0 ? date.day : 1) - 1;
  const std::int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

}  // namespace

std::int64_t days_between(const Date& from, const Date& to) { return day_number(to) - day_number(from); }

std::string to_string(const Date& date) {
  if (date.day == 0) return fmt::format("{:04}-{:02}", date.year, date.month);
  return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

Parsed<std::string> parse_text(std::string_view text) {
  if (trim(text).empty()) return Parsed<std::string>::fail("empty text", "some text");
  return Parsed<std::string>::ok(std::string(text));
}

Parsed<bool> parse_bool(std::string_view text) {
  const std::string word = to_lower(text);
  if (word == "true" || word == "yes") return Parsed<bool>::ok(true);
  if (word == "false" || word == "no") return Parsed<bool>::ok(false);
  return fail<bool>("truth value", text, "true, false, yes or no");
}

Parsed<double> parse_number(std::string_view text) { return number_with(text, false, "a number, such as 0.5 or 2e9"); }

Parsed<double> parse_positive(std::string_view text) {
  constexpr std::string_view kExpected = "a number above 0 (k, M, B, G and T may follow)";
  Parsed<double> number = number_with(text, true, kExpected);
  if (number.value && !(*number.value > 0)) return fail<double>("number", text, kExpected);
  return number;
}

Parsed<double> parse_non_negative(std::string_view text) {
  constexpr std::string_view kExpected = "a number, 0 or more";
  Parsed<double> number = number_with(text, false, kExpected);
  if (number.value && std::signbit(*number.value)) return fail<double>("number", text, kExpected);
  return number;
}

Parsed<double> parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto number = parse_non_negative(percent ? text.substr(0, text.size() - 1) : text);
  const double whole = percent ? 100 : 1;
  if (!number.value || *number.value > whole) return fail<double>("share", text, "0 to 1, or 0% to 100%");
  return Parsed<double>::ok(*number.value / whole);
}

Parsed<std::int64_t> parse_count(std::string_view text) { return whole_number(text, 1, kCountExpected); }

Parsed<std::int64_t> parse_count_or_zero(std::string_view text) { return whole_number(text, 0, kCountOrZeroExpected); }

Parsed<Bytes> parse_bytes(std::string_view text) {
  const auto number = take_number(text);
  if (!number) return fail<Bytes>("size", text, kBytesExpected);
  const std::string_view name = unit_of(number->rest);
  const NamedUnit* unit = find_unit(kByteUnits, name);
  const bool is_bits = unit && name.ends_with('b');
  if (is_bits) {
    return fail<Bytes>("size", text, "bytes, not bits: a capital B",
                       std::string(text.substr(0, text.size() - name.size())) + std::string(unit->name));
  }
  if (!unit) return fail<Bytes>("size", text, kBytesExpected);
  return scaled<Bytes>("size", text, *number, unit->factor, kBytesExpected);
}

Parsed<Seconds> parse_duration(std::string_view text) {
  const auto number = take_number(text);
  const NamedUnit* unit = number ? find_unit(kTimeUnits, unit_of(number->rest)) : nullptr;
  if (!unit) return fail<Seconds>("time", text, kDurationExpected);
  return scaled<Seconds>("time", text, *number, unit->factor, kDurationExpected);
}

Parsed<Date> parse_date(std::string_view text) {
  const bool has_day = text.size() == 10 && text[7] == '-';
  const bool has_form = (has_day || text.size() == 7) && text[4] == '-';
  if (!has_form) return fail<Date>("date", text, kDateExpected);
  const auto year = exact_digits(text.substr(0, 4), 4);
  const auto month = exact_digits(text.substr(5, 2), 2);
  const auto day = has_day ? exact_digits(text.substr(8), 2) : std::optional(0);
  const bool in_range = year && month && day && *year >= 1900 && *year <= 2200 && *month >= 1 && *month <= 12;
  if (!in_range || (has_day && (*day < 1 || *day > days_in_month(*year, *month)))) {
    return fail<Date>("date", text, kDateExpected);
  }
  return Parsed<Date>::ok({*year, *month, *day});
}

}  // namespace gpuplan
