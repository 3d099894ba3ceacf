#include <gpuplan/base/error.hpp>

#include "source.hpp"
#include "utf8.hpp"

#include <gpuplan/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::size_t kShownColumns = 120;  // of an excerpt
constexpr std::size_t kColumnsBefore = 60;  // the caret, when the line is longer
constexpr std::size_t kQuotedColumns = 80;

/// What a terminal may be given of the text, one string a code point.
std::vector<std::string> printable(std::string_view text, std::size_t limit) {
  std::vector<std::string> out;
  while (!text.empty() && out.size() < limit) {
    const CodePoint point = decode_utf8(text);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    if (point.value == '\t') {
      out.emplace_back(" ");
    } else if (point.length == 0 || point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0)) {
      out.emplace_back("?");
    } else {
      out.emplace_back(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string concat(const std::vector<std::string>& parts, std::size_t from, std::size_t to) {
  std::string out;
  for (std::size_t i = from; i < to; ++i) out += parts[i];
  return out;
}

std::string printable(std::string_view text) {
  const std::vector<std::string> points = printable(text, text.size());
  return concat(points, 0, points.size());
}

bool is_flag(const Place& place) { return place.origin.starts_with("--"); }

std::string heading(const Problem& problem) {
  std::string out;
  if (problem.place) {
    const Place& place = *problem.place;
    out = printable(place.origin);
    if (place.line > 0 && !is_flag(place)) {
      out += fmt::format(":{}", place.line);
      if (place.column > 0) out += fmt::format(":{}", place.column);
    }
    if (!out.empty()) out += ": ";
  }
  out += "error: " + printable(problem.message);
  if (!problem.id.empty()) out += " [" + problem.id + "]";
  return out;
}

std::string excerpt(const Problem& problem) {
  const std::size_t caret = static_cast<std::size_t>(std::max(problem.place->column, 1)) - 1;
  const std::vector<std::string> line = printable(problem.excerpt, caret + kShownColumns);
  std::size_t from = 0;
  if (caret >= kShownColumns) from = caret - kColumnsBefore;
  from = std::min(from, line.size());
  const std::size_t to = std::min(line.size(), from + kShownColumns);
  const std::string before = (from > 0 ? "…" : "") + concat(line, from, std::clamp(caret, from, to));
  const std::string after = concat(line, std::clamp(caret, from, to), to) + (to < line.size() ? "…" : "");
  const std::string number = is_flag(*problem.place) ? "" : std::to_string(problem.place->line);
  std::string out = fmt::format("\n{:>5} | {}{}", number, before, after);
  if (problem.place->column > 0 && caret <= to) {
    out += fmt::format("\n{:>5} | {}^", "", std::string(static_cast<std::size_t>(display_width(before)), ' '));
  }
  return out;
}

std::string format_all(const std::vector<Problem>& problems) {
  std::string out;
  for (const Problem& problem : problems) {
    if (!out.empty()) out += '\n';
    out += format_problem(problem);
  }
  return out;
}

}  // namespace

InputError::InputError(std::vector<Problem> problems)
    : std::runtime_error(format_all(problems)), problems_(std::move(problems)) {}

InputError::InputError(Problem problem) : InputError(std::vector<Problem>{std::move(problem)}) {}

std::string format_problem(const Problem& problem) {
  std::string out = heading(problem);
  if (problem.place && problem.place->line > 0 && !problem.excerpt.empty()) out += excerpt(problem);
  if (!problem.expected.empty()) out += "\n  expected: " + printable(problem.expected);
  if (!problem.nearest.empty()) out += "\n  nearest:  " + printable(problem.nearest);
  return out;
}

void assertion_failed(const char* condition, const char* what, const char* file, int line) {
  throw InternalError(fmt::format("{} ({}, {}:{})", what, condition, file, line));
}

std::string quote(std::string_view text) {
  std::string out = "'";
  for (std::size_t columns = 0; !text.empty(); ++columns) {
    if (columns == kQuotedColumns) {
      out += "…";
      break;
    }
    const CodePoint point = decode_utf8(text);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    if (point.length == 0 || point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0)) {
      for (const char c : text.substr(0, length)) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out + "'";
}

}  // namespace gpuplan
