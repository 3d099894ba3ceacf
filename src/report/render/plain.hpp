#pragma once
// A document as one table of texts, for formats that know nothing else: Markdown, HTML.

#include <gpuplan/report/document.hpp>

#include <string>
#include <vector>

namespace gpuplan {

struct PlainTable {
  struct Cell {
    std::string text;
    bool best = false;  ///< of its row
  };
  std::string title;
  std::vector<std::string> columns;
  std::vector<bool> is_number;  ///< one a column
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;  ///< below it
};

PlainTable plain_table(const Document& document);

// A value as a terminal shows it.
std::string cell_text(const Cell& cell);
// `+12 %` from the best one, `unknown` where nothing is known.
std::string compared_text(const CompareDocument::Value& value);
// `price.per_gpu_hour` as words.
std::string figure_text(const std::string& id);

}  // namespace gpuplan
