#include "csv_stream.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

constexpr std::size_t kBuffer = std::size_t{256} << 10;
constexpr std::size_t kMaxRecord = std::size_t{1} << 20;
constexpr int kEnd = -1;

[[noreturn]] void refuse(const std::string& id, const PriceText& text, std::int64_t line, std::string message) {
  throw InputError(Problem{id, std::move(message), Place{text.origin(), static_cast<int>(line), 0}, {}, {}, {}});
}

bool is_number_or_nothing(std::string_view text) {
  text = trim(text);
  return text.empty() || parse_number(text).value.has_value();
}

}  // namespace

CsvStream::CsvStream(PriceText& text) : text_(text), buffer_(kBuffer, '\0') {
  if (fill() && size_ >= 3 && std::string_view(buffer_.data(), 3) == "\xEF\xBB\xBF") at_ = 3;
}

bool CsvStream::fill() {
  at_ = 0;
  size_ = text_.read(buffer_.data(), buffer_.size());
  return size_ > 0;
}

int CsvStream::peek() {
  if (at_ >= size_ && !fill()) return kEnd;
  return static_cast<unsigned char>(buffer_[at_]);
}

int CsvStream::get() {
  const int c = peek();
  if (c != kEnd) ++at_;
  if (c == '\n') ++next_line_;
  return c;
}

bool CsvStream::next() {
  for (;;) {
    fields_.assign(1, {});
    line_ = next_line_;
    std::size_t size = 0;
    bool quoted = false;
    bool any = false;
    for (;;) {
      const int c = get();
      if (c == kEnd) {
        if (quoted) refuse("input.syntax", text_, line_, "the quotes that begin here do not end");
        if (!any) return false;
        break;
      }
      any = true;
      if (++size > kMaxRecord) refuse("input.too_large", text_, line_, "a record is longer than 1 MiB");
      if (c == '\0') refuse("input.binary", text_, line_, "a NUL byte");
      std::string& field = fields_.back();
      if (quoted) {
        if (c != '"') {
          field += static_cast<char>(c);
        } else if (peek() == '"') {
          field += static_cast<char>(get());
        } else {
          quoted = false;
        }
      } else if (c == '"' && field.empty()) {
        quoted = true;
      } else if (c == ',') {
        fields_.emplace_back();
      } else if (c == '\n') {
        break;
      } else if (c != '\r' || peek() != '\n') {
        field += static_cast<char>(c);
      }
    }
    if (fields_.size() > 1 || !trim(fields_.front()).empty()) return true;
  }
}

void CsvStream::take_header() {
  columns_.clear();
  for (const std::string& field : fields_) columns_.push_back(lookup_key(trim(field)));
}

bool CsvStream::has(std::string_view column) const {
  return std::find(columns_.begin(), columns_.end(), lookup_key(column)) != columns_.end();
}

std::string_view CsvStream::at(std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), lookup_key(column));
  const auto index = static_cast<std::size_t>(found - columns_.begin());
  return index < columns_.size() && index < fields_.size() ? trim(fields_[index]) : std::string_view{};
}

bool CsvStream::mend_surplus(std::initializer_list<std::string_view> texts,
                             std::initializer_list<std::string_view> numbers) {
  const std::vector<std::string> whole = fields_;
  const std::size_t surplus = whole.size() - columns_.size();
  for (const std::string_view text : texts) {
    const auto found = std::find(columns_.begin(), columns_.end(), lookup_key(text));
    if (found == columns_.end()) continue;
    const auto first = static_cast<std::size_t>(found - columns_.begin());
    fields_ = whole;
    for (std::size_t i = 0; i < surplus; ++i) fields_[first] += "," + whole[first + 1 + i];
    const auto begin = fields_.begin() + static_cast<std::ptrdiff_t>(first) + 1;
    fields_.erase(begin, begin + static_cast<std::ptrdiff_t>(surplus));
    if (std::all_of(numbers.begin(), numbers.end(), [&](auto column) { return is_number_or_nothing(at(column)); })) {
      return true;
    }
  }
  fields_ = whole;
  return false;
}

}  // namespace gpuplan
