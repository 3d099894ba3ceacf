#include <gpuplan/base/text.hpp>

#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::string_view kUnknown = "unknown";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

/// The distances of `a` to every beginning of `b`: element j is the one to the first j bytes.
std::vector<int> prefix_distances(std::string_view a, std::string_view b) {
  std::vector<int> before_last(b.size() + 1);
  std::vector<int> last(b.size() + 1);
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row;
}

/// How far a candidate is from what was typed, smaller first; nullopt when it cannot have been meant.
std::optional<std::pair<int, int>> likeness(const std::string& name, const std::string& candidate) {
  const int length = static_cast<int>(name.size());
  const int other = static_cast<int>(candidate.size());
  if (length > 3 * other + 3) return std::nullopt;  // also keeps megabytes of a key out of the table below
  const std::vector<int> distances = prefix_distances(name, candidate);
  const int whole = distances.back();
  const int beginning = *std::min_element(distances.begin(), distances.end());
  std::optional<int> best;
  const auto consider = [&best](int distance) { best = std::min(best.value_or(distance), distance); };
  if (3 * whole <= std::max(length, other)) consider(std::min(whole, beginning));
  // A name cut short, as people do: `H10-SXM` for `H100-SXM5-80GB`, `70b` for `llama-3.1-70b`.
  if (length >= 2 && 3 * beginning <= length) consider(beginning);
  if (length >= 3 && candidate.find(name) != std::string::npos) consider(1);
  // Or with more than there is: `llama-70b-chat` for `llama-70b`.
  if (other >= 4 && 2 * other >= length && name.find(candidate) != std::string::npos) consider(1);
  if (!best) return std::nullopt;
  return std::pair(*best, whole);
}

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t N>
bool contains(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [c](const Range& r) { return r.first <= c && c <= r.last; });
}

// From Unicode's EastAsianWidth.txt (W and F) and general categories Mn, Me and Cf: the blocks people write in.
constexpr std::array kZeroWidth = {Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD},
                                   Range{0x0610, 0x061A}, Range{0x064B, 0x065F}, Range{0x200B, 0x200F},
                                   Range{0x202A, 0x202E}, Range{0x2060, 0x2064}, Range{0x1AB0, 0x1AFF},
                                   Range{0x1DC0, 0x1DFF}, Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F},
                                   Range{0xFE20, 0xFE2F}, Range{0xFEFF, 0xFEFF}, Range{0xE0100, 0xE01EF}};
constexpr std::array kDoubleWidth = {Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0x33FF},
                                     Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},   Range{0xA000, 0xA4CF},
                                     Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},
                                     Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F},
                                     Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};

int code_point_width(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return 0;
  if (contains(kZeroWidth, c)) return 0;
  return contains(kDoubleWidth, c) ? 2 : 1;
}

void wrap_paragraph(std::string_view text, int width, std::vector<std::string>& out) {
  std::string line;
  int columns = 0;
  for (const std::string& word : split(text, ' ')) {
    const int word_columns = display_width(word);
    if (!line.empty() && columns + 1 + word_columns > width) {
      out.push_back(std::move(line));
      line.clear();
      columns = 0;
    }
    if (!line.empty()) {
      line += ' ';
      ++columns;
    }
    line += word;
    columns += word_columns;
  }
  out.push_back(std::move(line));
}

std::string with_thousands(std::string digits) {
  const std::size_t start = digits.starts_with('-') ? 1 : 0;
  std::size_t end = digits.find('.');
  if (end == std::string::npos) end = digits.size();
  while (end > start + 3) {
    end -= 3;
    digits.insert(end, ",");
  }
  return digits;
}

std::string fixed(double value, int decimals) {
  std::string out = fmt::format("{:.{}f}", value, decimals);
  if (out.find_first_not_of("-0.") == std::string::npos && out.starts_with('-')) out.erase(0, 1);  // no -0
  return with_thousands(std::move(out));
}

/// The power of ten of the first significant digit, after rounding to `digits` of them.
int decimal_exponent(double value, int digits) {
  const std::string scientific = fmt::format("{:.{}e}", value, digits - 1);
  return std::stoi(scientific.substr(scientific.find('e') + 1));
}

struct Step {
  double size;
  std::string_view name;
};

/// The value in the largest step it fills; the smallest step when it fills none.
std::string in_steps(double value, std::span<const Step> steps, std::string_view suffix = {}) {
  if (!std::isfinite(value)) return std::string(kUnknown);
  const Step* step = &steps.front();
  for (const Step& s : steps) {
    // 999.96 of the step below would be shown as 1,000 of it.
    if (std::abs(value) >= s.size * 0.9995) step = &s;
  }
  const std::string number = format_significant(value / step->size, 3);
  return fmt::format("{} {}{}", number, step->name, suffix);
}

constexpr std::array kDecimalBytes = {Step{1e3, "kB"},  Step{1e6, "MB"},  Step{1e9, "GB"},
                                      Step{1e12, "TB"}, Step{1e15, "PB"}, Step{1e18, "EB"}};
constexpr std::array kBinaryBytes = {Step{0x1p10, "KiB"}, Step{0x1p20, "MiB"}, Step{0x1p30, "GiB"},
                                     Step{0x1p40, "TiB"}, Step{0x1p50, "PiB"}, Step{0x1p60, "EiB"}};
constexpr std::array kFlop = {Step{1, "FLOP"},     Step{1e3, "kFLOP"},  Step{1e6, "MFLOP"},  Step{1e9, "GFLOP"},
                              Step{1e12, "TFLOP"}, Step{1e15, "PFLOP"}, Step{1e18, "EFLOP"}, Step{1e21, "ZFLOP"}};
constexpr std::array kWatts = {Step{1, "W"}, Step{1e3, "kW"}, Step{1e6, "MW"}, Step{1e9, "GW"}};
constexpr std::array kShortTimes = {Step{1e-9, "ns"}, Step{1e-6, "µs"}, Step{1e-3, "ms"}, Step{1, "s"}};

/// Fewer bytes than the first step are whole.
std::string format_in_bytes(double value, std::span<const Step> steps, std::string_view suffix) {
  if (!std::isfinite(value)) return std::string(kUnknown);
  if (std::abs(value) >= steps.front().size * 0.9995) return in_steps(value, steps, suffix);
  const bool whole = std::abs(value - std::round(value)) < 1e-9;
  return fmt::format("{} B{}", whole ? fixed(value, 0) : format_significant(value, 3), suffix);
}

}  // namespace

std::string lookup_key(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (!is_blank(c) && c != '-' && c != '_') key += lower(c);
  }
  return key;
}

int edit_distance(std::string_view a, std::string_view b) { return prefix_distances(to_lower(a), to_lower(b)).back(); }

std::string nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string key = lookup_key(name);
  if (key.empty()) return {};
  std::string_view best;
  std::optional<std::tuple<int, int, int>> best_likeness;
  for (const std::string_view candidate : candidates) {
    const std::string other = lookup_key(candidate);
    const auto found = likeness(key, other);
    if (!found) continue;
    // Of equally near ones, that with the longer common beginning: people get the first letters right.
    const auto common = std::mismatch(key.begin(), key.end(), other.begin(), other.end()).first - key.begin();
    const std::tuple ordered(found->first, found->second, -static_cast<int>(common));
    if (!best_likeness || ordered < *best_likeness) {
      best = candidate;
      best_likeness = ordered;
    }
  }
  return std::string(best);
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (;;) {
    const std::size_t end = text.find(separator);
    if (const std::string_view part = trim(text.substr(0, end)); !part.empty()) out.emplace_back(part);
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    width += point.length == 0 ? 1 : code_point_width(point.value);
    text.remove_prefix(std::max<std::size_t>(point.length, 1));
  }
  return width;
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> out;
  for (;;) {
    const std::size_t end = text.find('\n');
    wrap_paragraph(text.substr(0, end), width, out);
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(ascii_front(text));
    if (text.empty()) break;
    const std::size_t length = decode_utf8(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string format_bytes(Bytes value) { return format_in_bytes(value.base(), kDecimalBytes, ""); }

std::string format_binary_bytes(Bytes value) { return format_in_bytes(value.base(), kBinaryBytes, ""); }

std::string format_seconds(Seconds value) {
  const double s = value.base();
  if (!std::isfinite(s)) return std::string(kUnknown);
  if (std::abs(s) < 1e-12) return "0 s";
  // Two of a unit before it is used: 90 s, 1.50 h as 90.0 min, 36.0 h.
  if (std::abs(s) < 120) return in_steps(s, kShortTimes);
  if (std::abs(s) < 2 * 3600) return format_significant(s / 60, 3) + " min";
  if (std::abs(s) < 48 * 3600) return format_significant(s / 3600, 3) + " h";
  return format_significant(s / 86400, 3) + " days";
}

std::string format_quantity(double base_value, Unit unit) {
  if (!std::isfinite(base_value)) return std::string(kUnknown);
  switch (unit) {
    case Unit::none:
      return format_significant(base_value, 3);
    case Unit::bytes:
      return format_in_bytes(base_value, kDecimalBytes, "");
    case Unit::seconds:
      return format_seconds(Seconds::from_base(base_value));
    case Unit::flop:
      return in_steps(base_value, kFlop);
    case Unit::tokens:
      return format_count(base_value) + " tokens";
    case Unit::bytes_per_second:
      return format_in_bytes(base_value, kDecimalBytes, "/s");
    case Unit::flop_per_second:
      return in_steps(base_value, kFlop, "/s");
    case Unit::tokens_per_second:
      return format_significant(base_value, 3) + " tokens/s";
    case Unit::watts:
      return in_steps(base_value, kWatts);
    case Unit::money:
      return fixed(base_value, 2);
  }
  return {};
}

std::string format_significant(double value, int digits) {
  if (!std::isfinite(value)) return std::string(kUnknown);
  digits = std::max(digits, 1);
  const double size = std::abs(value);
  if (!(size > 0)) return "0";
  // Past these a row of digits says nothing, and would not fit in a column.
  if (size >= 1e15 || size < 1e-15) return fmt::format("{:.{}e}", value, digits - 1);
  return fixed(value, std::max(0, digits - 1 - decimal_exponent(value, digits)));
}

std::string format_shortest(double value) {
  char buffer[40];
  // 8000000 is shorter as 8e+06, but nobody reads it so.
  const bool is_whole = std::abs(value) < 1e15 && std::trunc(value) - value == 0.0;
  const auto result = is_whole ? std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed)
                               : std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

std::string format_whole(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::string format_count(double value) {
  static constexpr std::array kSteps = {Step{1e6, "M"}, Step{1e9, "B"}, Step{1e12, "T"}};
  if (!std::isfinite(value)) return std::string(kUnknown);
  if (std::abs(value) >= 999999.5) return in_steps(value, kSteps);
  if (std::abs(value - std::round(value)) < 1e-9) return fixed(value, 0);
  return format_significant(value, 3);
}

}  // namespace gpuplan
