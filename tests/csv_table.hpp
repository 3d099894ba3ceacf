#pragma once
/// A CSV file (RFC 4180) as rows by column name. Empty when the file is absent: the facts of shared/ are not shipped.

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace gpuplan::testing {

using CsvRow = std::map<std::string, std::string>;

inline std::vector<std::vector<std::string>> csv_records(const std::string& text) {
  std::vector<std::vector<std::string>> records(1);
  std::string cell;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cell += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ',' || c == '\n')) {
      records.back().push_back(cell);
      cell.clear();
      if (c == '\n') records.emplace_back();
    } else if (quoted || c != '\r') {
      cell += c;
    }
  }
  if (!cell.empty() || !records.back().empty()) {
    records.back().push_back(cell);
  } else {
    records.pop_back();
  }
  return records;
}

inline std::vector<CsvRow> csv_table(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  const auto records = csv_records({std::istreambuf_iterator<char>(in), {}});
  std::vector<CsvRow> rows;
  for (std::size_t r = 1; r < records.size(); ++r) {
    CsvRow row;
    for (std::size_t i = 0; i < records[0].size() && i < records[r].size(); ++i) row[records[0][i]] = records[r][i];
    rows.push_back(std::move(row));
  }
  return rows;
}

/// A table of the facts that the catalogue was made from, where a checkout has them beside it.
inline std::vector<CsvRow> facts_table(const std::string& name) {
  return csv_table(std::string(GPUPLAN_SOURCE_DIR) + "/../shared/facts/" + name);
}

}  // namespace gpuplan::testing
