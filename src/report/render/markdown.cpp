#include "plain.hpp"

#include <gpuplan/report/render.hpp>

namespace gpuplan {
namespace {

// What would end a cell, start a tag or emphasis; a line break becomes a blank.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    if (c == '|' || c == '\\' || c == '*' || c == '_' || c == '`' || c == '<' || c == '[' || c == ']') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string render_markdown(const Document& document) {
  const PlainTable table = plain_table(document);
  std::string out = "## " + escaped(table.title) + "\n\n|";
  for (const std::string& column : table.columns) out += " " + escaped(column) + " |";
  out += "\n|";
  for (const bool is_number : table.is_number) out += is_number ? " ---: |" : " --- |";
  out += "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (const auto& cell : row)
      out += cell.best ? " **" + escaped(cell.text) + "** |" : " " + escaped(cell.text) + " |";
    out += "\n";
  }
  for (const std::string& note : table.notes) out += "\n" + escaped(note) + "\n";
  return out;
}

}  // namespace gpuplan
