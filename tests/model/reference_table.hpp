#pragma once
/// Rows of tests/reference/*.csv: the last column (the source) may hold commas, the others may not.

#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuplan::testing {

using ReferenceRow = std::map<std::string, std::string>;

inline std::vector<std::string> split_row(const std::string& line, std::size_t columns) {
  std::vector<std::string> cells;
  std::size_t from = 0;
  while (cells.size() + 1 < columns) {
    const std::size_t comma = line.find(',', from);
    if (comma == std::string::npos) break;
    cells.push_back(line.substr(from, comma - from));
    from = comma + 1;
  }
  cells.push_back(line.substr(from));
  return cells;
}

inline std::vector<ReferenceRow> reference_table(const std::string& name) {
  const std::string path = std::string(GPUPLAN_SOURCE_DIR) + "/tests/reference/" + name;
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) throw std::runtime_error("no reference table at " + path);
  const std::vector<std::string> header = split_row(line, 1000);
  std::vector<ReferenceRow> rows;
  while (std::getline(in, line)) {
    if (line.empty()) continue;
    const std::vector<std::string> cells = split_row(line, header.size());
    if (cells.size() != header.size()) throw std::runtime_error("short row in " + path + ": " + line);
    ReferenceRow row;
    for (std::size_t i = 0; i < cells.size(); ++i) row[header[i]] = cells[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

inline double number(const ReferenceRow& row, const char* column) {
  return std::strtod(row.at(column).c_str(), nullptr);
}

}  // namespace gpuplan::testing
