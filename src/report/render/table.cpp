#include "table.hpp"

#include "text.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <numeric>

namespace gpuplan {
namespace {

constexpr int kGap = 2;

void append_padded(std::string& line, const std::string& text, int width, bool right) {
  const std::string blanks(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  line += right ? blanks + text : text + blanks;
}

// Width of each column; 0: empty in every row.
std::vector<int> column_widths(const std::vector<TableColumn>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    int width = 0;
    for (const auto& row : rows) width = std::max(width, display_width(row[c]));
    widths.push_back(width > 0 ? std::max(width, display_width(columns[c].title)) : 0);
  }
  return widths;
}

// Sets the widths of columns without room to 0; their titles.
std::vector<std::string> make_room(const std::vector<TableColumn>& columns, std::vector<int>& widths, int room) {
  const auto needed = [&] {
    const auto shown = std::count_if(widths.begin(), widths.end(), [](int width) { return width > 0; });
    return std::accumulate(widths.begin(), widths.end(), 0) + kGap * (static_cast<int>(shown) - 1);
  };
  std::vector<bool> dropped(columns.size(), false);
  while (needed() > room) {
    std::size_t least = columns.size();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (widths[c] > 0 && columns[c].spare > (least < columns.size() ? columns[least].spare : 0)) least = c;
    }
    if (least == columns.size()) break;
    widths[least] = 0;
    dropped[least] = true;
  }
  std::vector<std::string> titles;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (dropped[c]) titles.push_back(columns[c].title);
  }
  return titles;
}

}  // namespace

std::string layout_table(const std::vector<TableColumn>& columns, const std::vector<std::vector<std::string>>& rows,
                         const TextStyle& style, const std::string& indent) {
  std::vector<int> widths = column_widths(columns, rows);
  std::vector<std::string> dropped;
  if (style.table_width > 0) dropped = make_room(columns, widths, style.table_width - display_width(indent));
  const auto line_of = [&](const auto& text_of) {
    std::string line = indent;
    bool first = true;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (widths[c] == 0) continue;
      if (!first) line += std::string(kGap, ' ');
      first = false;
      append_padded(line, text_of(c), widths[c], columns[c].right);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  };
  std::string out;
  if (!rows.empty()) out += bold(line_of([&](std::size_t c) { return columns[c].title; }), style) + "\n";
  for (const auto& row : rows) out += line_of([&](std::size_t c) { return row[c]; }) + "\n";
  if (!dropped.empty()) {
    for (const auto& line : wrap("(no room for " + join(dropped, ", ") + ")", style.width - display_width(indent))) out += indent + line + "\n";
  }
  return out;
}

}  // namespace gpuplan
