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
std::vector<int> column_widths(const std::vector<TableColumn>& columns,
                               const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    int width = 0;
    for (const auto& row : rows) width = std::max(width, display_width(row[c]));
    widths.push_back(width > 0 ? std::max(width, display_width(columns[c].title)) : 0);
  }
  return widths;
}

// Columns without room get width 0; their titles. Room is given in the order of `spare`, those at 0 have it anyway.
std::vector<std::string> make_room(const std::vector<TableColumn>& columns, std::vector<int>& widths, int room) {
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return columns[a].spare < columns[b].spare; });
  std::vector<bool> dropped(columns.size(), false);
  int left = room + kGap;
  for (const std::size_t c : order) {
    if (widths[c] == 0) continue;
    const int needed = widths[c] + kGap;
    if (columns[c].spare == 0 || needed <= left) {
      left -= needed;
    } else {
      dropped[c] = true;
      widths[c] = 0;
    }
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
    for (const auto& line :
         wrap("(not shown for want of room: " + join(dropped, ", ") + ")", style.width - display_width(indent)))
      out += indent + line + "\n";
  }
  return out;
}

}  // namespace gpuplan
