#pragma once
// Columns of text, aligned; what a terminal shows.

#include <string>
#include <vector>

namespace gpuplan {

struct TableColumn {
  std::string title;
  bool right = false;
};

// Two spaces between columns; trailing blanks are cut. Columns that are empty in every row are left out.
std::string layout_table(const std::vector<TableColumn>& columns, const std::vector<std::vector<std::string>>& rows,
                         const std::string& indent = {});

}  // namespace gpuplan
