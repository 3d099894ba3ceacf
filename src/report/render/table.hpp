#pragma once
// Columns of text, aligned; what a terminal shows.

#include <gpuplan/report/render.hpp>

#include <string>
#include <vector>

namespace gpuplan {

struct TableColumn {
  std::string title;
  bool right = false;
  int spare = 0;  ///< 0: always shown; the others get what room is left, lowest number first
};

// Two spaces between columns; trailing blanks are cut. Columns that are empty in every row are left out; those that the
// width (`style.table_width`) has no room for are named below the table.
std::string layout_table(const std::vector<TableColumn>& columns, const std::vector<std::vector<std::string>>& rows,
                         const TextStyle& style, const std::string& indent = {});

}  // namespace gpuplan
