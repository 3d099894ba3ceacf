#include "table.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

void append_padded(std::string& line, const std::string& text, int width, bool right) {
  const std::string blanks(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  line += right ? blanks + text : text + blanks;
}

}  // namespace

std::string layout_table(const std::vector<TableColumn>& columns, const std::vector<std::vector<std::string>>& rows,
                         const std::string& indent) {
  std::vector<int> widths;
  std::vector<bool> used;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    int width = display_width(columns[c].title);
    bool any = false;
    for (const auto& row : rows) {
      width = std::max(width, display_width(row[c]));
      any = any || !row[c].empty();
    }
    widths.push_back(width);
    used.push_back(any);
  }
  std::string out;
  const auto add_line = [&](const auto& text_of) {
    std::string line = indent;
    bool first = true;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!used[c]) continue;
      if (!first) line += "  ";
      first = false;
      append_padded(line, text_of(c), widths[c], columns[c].right);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add_line([&](std::size_t c) { return columns[c].title; });
  for (const auto& row : rows) {
    add_line([&](std::size_t c) { return row[c]; });
  }
  return out;
}

}  // namespace gpuplan
