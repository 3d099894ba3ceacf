#include <gpuplan/validation/csv.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <utility>

namespace gpuplan {
namespace {

Problem problem_at(std::string_view origin, int line, int column, std::string message, std::string expected) {
  return {"csv.syntax", std::move(message), Place{std::string(origin), line, column}, std::move(expected), {}, {}};
}

// Cuts the text into records, one character after the other.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view origin, std::vector<Problem>& problems)
      : text_(text), origin_(origin), problems_(problems) {}

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }

  CsvRecord record() {
    CsvRecord record;
    record.line = line_;
    while (true) {
      record.fields.push_back(!at_end() && text_[at_] == '"' ? quoted() : plain());
      if (at_end()) return record;
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      end_line();
      return record;
    }
  }

 private:
  [[nodiscard]] bool at_separator() const { return text_[at_] == ',' || at_line_end(); }
  [[nodiscard]] bool at_line_end() const {
    return text_[at_] == '\n' || (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n');
  }
  void end_line() {
    at_ += text_[at_] == '\r' ? 2 : 1;
    ++line_;
    line_start_ = at_;
  }
  void refuse(std::string message, std::string expected) {
    problems_.push_back(
        problem_at(origin_, line_, static_cast<int>(at_ - line_start_) + 1, std::move(message), std::move(expected)));
  }

  std::string plain() {
    std::string field;
    for (; !at_end() && !at_separator(); ++at_) {
      if (text_[at_] == '"') refuse("a quote inside a field that does not start with one", "the whole field in quotes");
      if (text_[at_] == '\r') refuse("a carriage return that ends no line", "lines that end with LF or CRLF");
      field += text_[at_];
    }
    return field;
  }

  std::string quoted() {
    std::string field;
    for (++at_; !at_end(); ++at_) {
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') return close(std::move(field));
        ++at_;
      } else if (text_[at_] == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      }
      field += text_[at_];
    }
    refuse("the file ends inside quotes", "a closing quote");
    return field;
  }

  std::string close(std::string field) {
    ++at_;
    if (!at_end() && !at_separator()) {
      refuse("text after a closing quote", "a comma or the end of the line");
      while (!at_end() && !at_separator()) ++at_;
    }
    return field;
  }

  std::string_view text_;
  std::string_view origin_;
  std::vector<Problem>& problems_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
};

void check_header(const CsvTable& table, std::string_view origin, std::vector<Problem>& problems) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (std::find(table.columns.begin(), table.columns.begin() + static_cast<std::ptrdiff_t>(i), table.columns[i]) !=
        table.columns.begin() + static_cast<std::ptrdiff_t>(i)) {
      problems.push_back(
          problem_at(origin, 1, 0, "the column '" + table.columns[i] + "' is there twice", "each column once"));
    }
  }
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

CsvTable read_csv(std::string_view text, std::string_view origin) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::size_t kMostProblems = 100;
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  std::vector<Problem> problems;
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos) {
    throw InputError(problem_at(origin, 0, 0, "the file is not text", "UTF-8 without NUL"));
  }
  Scanner scanner(text, origin, problems);
  CsvTable table;
  if (scanner.at_end()) throw InputError(problem_at(origin, 0, 0, "the file is empty", "a header line"));
  table.columns = scanner.record().fields;
  check_header(table, origin, problems);
  while (!scanner.at_end() && problems.size() < kMostProblems) {
    CsvRecord record = scanner.record();
    if (record.fields.size() != table.columns.size()) {
      problems.push_back(problem_at(origin, record.line, 0,
                                    std::to_string(record.fields.size()) + " fields in a record",
                                    std::to_string(table.columns.size()) + " fields, as in the header"));
    }
    table.records.push_back(std::move(record));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return table;
}

}  // namespace gpuplan
