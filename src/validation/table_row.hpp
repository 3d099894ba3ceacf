#pragma once
// Fields of one record of a table of measurements, by their columns; what is wrong with them is collected.

#include <gpuplan/base/error.hpp>
#include <gpuplan/validation/csv.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

class TableRow {
 public:
  TableRow(const CsvTable& table, const CsvRecord& record, std::string_view origin, std::vector<Problem>& problems)
      : table_(table), record_(record), origin_(origin), problems_(problems) {}

  [[nodiscard]] std::string text(std::string_view column) const {
    const auto at = table_.column(column);
    return at ? record_.fields[*at] : std::string{};
  }
  template <class Parse>
  auto number(std::string_view column, Parse parse) -> decltype(parse(std::string_view{}).value) {
    const std::string field = text(column);
    if (field.empty()) return std::nullopt;
    auto parsed = parse(field);
    if (!parsed.value) refuse(column, parsed.message, parsed.expected);
    return parsed.value;
  }
  template <class Parse>
  auto required(std::string_view column, Parse parse) {
    using Value = typename decltype(parse(std::string_view{}).value)::value_type;
    if (text(column).empty()) refuse(column, "no '" + std::string(column) + "'", "a value");
    return number(column, parse).value_or(Value{});
  }

 private:
  void refuse(std::string_view column, const std::string& message, const std::string& expected) {
    const auto at = table_.column(column);
    problems_.push_back({"input.bad_value",
                         std::string(column) + ": " + message,
                         Place{std::string(origin_), record_.line, at ? static_cast<int>(*at) + 1 : 0},
                         expected,
                         {},
                         {}});
  }

  const CsvTable& table_;
  const CsvRecord& record_;
  std::string_view origin_;
  std::vector<Problem>& problems_;
};

inline void require_columns(const CsvTable& table, std::span<const std::string_view> columns, std::string_view origin,
                            std::vector<Problem>& problems) {
  for (const std::string_view column : columns) {
    if (table.column(column)) continue;
    problems.push_back({"input.missing_key",
                        "no column '" + std::string(column) + "'",
                        Place{std::string(origin), 1, 0},
                        "the columns of data/measured/README.md",
                        {},
                        {}});
  }
}

/// The value of a key in `key=value` pairs joined by ';', or empty.
inline std::string_view value_of_key(std::string_view pairs, std::string_view key) {
  while (!pairs.empty()) {
    const std::string_view pair = pairs.substr(0, pairs.find(';'));
    pairs.remove_prefix(std::min(pairs.size(), pair.size() + 1));
    const auto equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == key) return pair.substr(equals + 1);
  }
  return {};
}

}  // namespace gpuplan
