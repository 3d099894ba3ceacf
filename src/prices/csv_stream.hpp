#pragma once
// Comma-separated values as a stream of records (RFC 4180): quoted fields may hold commas, quotes and line ends; CRLF and LF;
// a byte-order mark is skipped. Lists are not ours, so a record of another width than the header is given as it is.

#include <gpuplan/prices/import.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

class CsvStream {
 public:
  explicit CsvStream(PriceText& text);
  // The next record, of at least one field; empty lines are skipped. False at the end.
  bool next();
  [[nodiscard]] std::int64_t line() const { return line_; }  // where the record starts, from 1
  [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }

  // Takes the current record for the header. Names are compared without regard to case, spaces, '-' and '_'.
  void take_header();
  [[nodiscard]] bool has(std::string_view column) const;
  // The field of a column by name; empty when the list has no such column or the record ends before it.
  [[nodiscard]] std::string_view at(std::string_view column) const;
  [[nodiscard]] std::size_t width() const { return columns_.size(); }
  // A record with more fields than the header has a comma in a text that is not quoted: puts the surplus back into the
  // first of `texts` with which every column of `numbers` holds a number or nothing. False when none does.
  bool mend_surplus(std::initializer_list<std::string_view> texts, std::initializer_list<std::string_view> numbers);

 private:
  int get();
  int peek();
  bool fill();

  PriceText& text_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::int64_t line_ = 0, next_line_ = 1;
  std::vector<std::string> fields_;
  std::vector<std::string> columns_;  // lookup keys
};

}  // namespace gpuplan
