#pragma once
/// A strict reader of comma-separated values (RFC 4180) with a header line.
///
/// Fields may be quoted; inside quotes a quote is doubled and line ends are text. Refused: a record with more or fewer fields
/// than the header, text after a closing quote, an open quote at the end, a repeated column, NUL, bad UTF-8. A byte-order mark is
/// skipped, lines end with LF or CRLF.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct CsvRecord {
  int line = 0;  ///< where it starts, from 1
  std::vector<std::string> fields;
};

struct CsvTable {
  std::vector<std::string> columns;
  std::vector<CsvRecord> records;
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// @param origin  the file's name for messages. Throws InputError with every problem.
CsvTable read_csv(std::string_view text, std::string_view origin);

}  // namespace gpuplan
