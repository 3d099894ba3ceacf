#include "plain.hpp"
#include "table.hpp"
#include "text.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

constexpr int kFigureWidth = 26;
constexpr int kNarrowest = 18;
constexpr int kWidest = 40;

// Words that are longer than a column, such as addresses, go on in the next line.
std::string broken(const std::string& text, std::size_t width) {
  std::string out;
  std::size_t length = 0;
  for (const char c : text) {
    length = c == ' ' ? 0 : length + ((static_cast<unsigned char>(c) & 0xC0) == 0x80 ? 0 : 1);
    if (length > width) {
      out += ' ';
      length = 1;
    }
    out += c;
  }
  return out;
}

// Cells as paragraphs: each row takes as many lines as its longest cell.
void add_lines(std::vector<std::vector<std::string>>& lines, const std::string& figure,
               const std::vector<std::string>& cells, int width) {
  std::vector<std::vector<std::string>> wrapped;
  std::size_t most = 1;
  for (const std::string& cell : cells) {
    wrapped.push_back(wrap(broken(cell, static_cast<std::size_t>(width)), width));
    most = std::max(most, wrapped.back().size());
  }
  for (std::size_t i = 0; i < most; ++i) {
    auto& line = lines.emplace_back();
    line.push_back(i == 0 ? figure : std::string());
    for (const auto& cell : wrapped) line.push_back(i < cell.size() ? cell[i] : std::string());
  }
}

}  // namespace

std::string compare_text(const CompareDocument& d, const TextStyle& style) {
  const int columns = std::max<int>(1, static_cast<int>(d.columns.size()));
  const int room = (style.table_width > 0 ? style.table_width : style.width) - kFigureWidth;
  const int width = std::clamp(room / columns - 2, kNarrowest, kWidest);
  const PlainTable table = plain_table(d);
  std::vector<TableColumn> titles;
  for (const std::string& column : table.columns) titles.push_back({column, false, 0});
  std::vector<std::vector<std::string>> lines;
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 1; i < row.size(); ++i) cells.push_back(row[i].best ? row[i].text + " *" : row[i].text);
    add_lines(lines, row.front().text, cells, width);
  }
  std::string out = bold(table.title + "; * is best, differences are from it", style) + "\n\n";
  out += layout_table(titles, lines, {style.width, 0, style.color, false});
  for (const std::string& note : table.notes) {
    out += "\n";
    for (const auto& line : wrap(note, style.width)) out += line + "\n";
  }
  return out;
}

}  // namespace gpuplan
