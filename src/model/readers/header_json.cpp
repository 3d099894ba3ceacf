#include "header_json.hpp"

#include "bytes.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace gpuplan {
namespace {

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kFewKeys = 16;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Says where a text is not JSON, which costs no time otherwise.
class ErrorFinder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit ErrorFinder(const std::string& origin) : origin_(origin) {}
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(std::int64_t /*value*/) override { return true; }
  bool number_unsigned(std::uint64_t /*value*/) override { return true; }
  bool number_float(double /*value*/, const std::string& /*text*/) override { return true; }
  bool string(std::string& /*value*/) override { return true; }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return true; }
  bool key(std::string& /*name*/) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*size*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception& /*error*/) override {
    refuse(
        "input.syntax", origin_,
        "bad JSON at byte " + std::to_string(position) + ": unexpected " + (token.empty() ? "end" : in_quotes(token)),
        "one JSON object and nothing after it");
  }

 private:
  const std::string& origin_;
};

/// How many bytes at the front are printable ASCII without quote and backslash; eight are looked at in one step, and a rest
/// of fewer at the text's end may be left out.
std::size_t ordinary_bytes(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  const auto zeros = [](std::uint64_t word) { return (word - kOnes) & ~word & kHighBits; };
  std::size_t at = 0;
  for (; text.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    const std::uint64_t controls = (word - kOnes * 0x20) & ~word;
    // The lowest bit that is set is right, those above it may come from a carry.
    const std::uint64_t special =
        (zeros(word ^ (kOnes * '"')) | zeros(word ^ (kOnes * '\\')) | controls | word) & kHighBits;
    if (special != 0) return at + static_cast<std::size_t>(std::countr_zero(special)) / 8;
  }
  return at;
}

}  // namespace

void JsonKeys::clear() {
  // A table much larger than what was in it last is given up: emptying it may not cost more than filling it did.
  if (table_.size() > 16 * used_) table_.clear();
  if (used_ > 0) std::fill(table_.begin(), table_.end(), 0U);
  used_ = 0;
  ascending_ = true;
  keys_.clear();
}

bool JsonKeys::insert(std::string_view key) {
  ascending_ = ascending_ && (keys_.empty() || keys_.back().text < key);
  keys_.push_back({key});
  if (ascending_) return true;
  if (keys_.size() <= kFewKeys) {
    return std::none_of(keys_.begin(), keys_.end() - 1, [&](const Key& other) { return other.text == key; });
  }
  if (used_ == 0 || 2 * keys_.size() > table_.size()) make_table();
  keys_.back().hash = std::hash<std::string_view>{}(key);
  if (is_in_table(keys_.back())) return false;
  place(keys_.size());
  return true;
}

bool JsonKeys::is_in_table(const Key& key) {
  for (std::size_t at = key.hash & (table_.size() - 1); table_[at] != 0; at = (at + 1) & (table_.size() - 1)) {
    const std::size_t number = table_[at] & (table_.size() - 1);
    if ((table_[at] & ~(table_.size() - 1)) != mark(key.hash)) continue;
    const Key& other = keys_[number - 1];
    if (other.hash == key.hash && other.text == key.text) return true;
  }
  return false;
}

/// With room for the keys, all but the last of which are put in.
void JsonKeys::make_table() {
  const bool first = used_ == 0;
  if (2 * keys_.size() > table_.size()) table_.assign(std::bit_ceil(4 * keys_.size()), 0U);
  used_ = 0;
  for (std::size_t number = 1; number < keys_.size(); ++number) {
    Key& key = keys_[number - 1];
    if (first) key.hash = std::hash<std::string_view>{}(key.text);
    place(number);
  }
}

void JsonKeys::place(std::size_t number) {
  std::size_t at = keys_[number - 1].hash & (table_.size() - 1);
  while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
  table_[at] = static_cast<std::uint32_t>(number | mark(keys_[number - 1].hash));
  ++used_;
}

// A parser of its own: headers of large models are tens of megabytes, and a general one takes ten times as long.

void JsonCursor::start(std::string_view text, const std::string& origin) {
  text_ = text;
  origin_ = &origin;
  at_ = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  path_.clear();
  unescaped_.clear();
}

void JsonCursor::bad() const {
  ErrorFinder finder(*origin_);
  (void)nlohmann::json::sax_parse(text_.data(), text_.data() + text_.size(), &finder);
  refuse("input.syntax", *origin_, "bad JSON at byte " + std::to_string(at_ + 1));
}

JsonKind JsonCursor::kind() {
  const char c = next();
  if (c == '{') return JsonKind::object;
  if (c == '[') return JsonKind::array;
  if (c == '"') return JsonKind::text;
  return c == '-' || (c >= '0' && c <= '9') ? JsonKind::number : JsonKind::null;
}

JsonKeys& JsonCursor::begin(char bracket) {
  if (path_.size() >= kMaxDepth) {
    refuse("input.too_deep", *origin_, "the header is nested deeper than " + std::to_string(kMaxDepth) + " levels");
  }
  expect(bracket);
  const std::size_t depth = path_.size();
  path_.emplace_back();
  if (keys_.size() <= depth) keys_.resize(depth + 1);
  if (bracket == '{') keys_[depth].clear();
  return keys_[depth];
}

std::string_view JsonCursor::key() {
  if (next() != '"') bad();
  const std::string_view name = string();
  expect(':');
  return name;
}

void JsonCursor::refuse_duplicate() const {
  refuse("input.duplicate_key", *origin_, "key " + in_quotes(path()) + " is there twice", "each key once");
}

JsonScalar JsonCursor::scalar() {
  const JsonKind comes = kind();
  if (comes == JsonKind::text) return {JsonKind::text, 0, 0, string()};
  return comes == JsonKind::number ? number() : word();
}

void JsonCursor::skip() {
  const JsonKind comes = kind();
  if (comes == JsonKind::object) {
    object([&](std::string_view) { skip(); });
  } else if (comes == JsonKind::array) {
    array([&] { skip(); });
  } else {
    scalar();
  }
}

void JsonCursor::finish() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  if (at_ != text_.size()) bad();
}

/// What stands between the quotes: a view of the text, or of what its escapes stand for.
std::string_view JsonCursor::string() {
  const std::size_t from = at_ + 1;
  bool plain = true;
  bool ascii = true;
  at_ = from + ordinary_bytes(text_.substr(from));
  for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte < 0x20) bad();
    if (byte >= 0x80) ascii = false;
    if (byte != '\\') continue;
    plain = false;
    ++at_;
  }
  if (at_ >= text_.size()) bad();
  ++at_;
  const std::string_view inside = text_.substr(from, at_ - from - 1);
  if (plain) {
    if (!ascii && !is_utf8(inside)) bad();
    return inside;
  }
  const char* quoted = inside.data() - 1;
  const auto parsed = nlohmann::json::parse(quoted, quoted + inside.size() + 2, nullptr, false);
  if (!parsed.is_string()) bad();
  return unescaped_.emplace_back(parsed.get<std::string>());
}

std::size_t JsonCursor::digits() {
  const std::size_t from = at_;
  while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
  if (at_ == from) bad();
  return at_ - from;
}

JsonScalar JsonCursor::number() {
  const std::size_t from = at_;
  constexpr std::size_t kDigitsThatFit = 18;
  std::int64_t value = 0;
  for (; at_ < text_.size() && at_ - from < kDigitsThatFit && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
    value = 10 * value + (text_[at_] - '0');
  if (at_ > from && at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ']' || text_[at_] == '}') &&
      (text_[from] != '0' || at_ == from + 1)) {
    return {JsonKind::whole, value, static_cast<double>(value), text_.substr(from, at_ - from)};
  }
  at_ = from;
  if (text_[at_] == '-') ++at_;
  const bool zero_first = is_at('0', '0');
  if (digits() > 1 && zero_first) bad();
  bool is_whole = true;
  if (is_at('.', '.')) {
    is_whole = false;
    ++at_;
    digits();
  }
  if (is_at('e', 'E')) {
    is_whole = false;
    ++at_;
    if (is_at('+', '-')) ++at_;
    digits();
  }
  JsonScalar out{JsonKind::number, 0, 0, text_.substr(from, at_ - from)};
  if (is_whole && whole(out.text, out)) return out;
  out.number = std::strtod(std::string(out.text).c_str(), nullptr);
  if (!std::isfinite(out.number)) bad();
  return out;
}

/// False when the number does not fit into 64 bits.
bool JsonCursor::whole(std::string_view written, JsonScalar& out) const {
  const char* const end = written.data() + written.size();
  if (std::from_chars(written.data(), end, out.whole).ec == std::errc()) {
    out.kind = JsonKind::whole;
    out.number = static_cast<double>(out.whole);
    return true;
  }
  std::uint64_t large = 0;
  if (written.starts_with('-') || std::from_chars(written.data(), end, large).ec != std::errc()) return false;
  refuse("input.bad_value", *origin_, "number " + std::to_string(large) + " of " + path() + " is too large",
         "a number below 2^63");
}

JsonScalar JsonCursor::word() {
  const auto is = [&](std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  };
  if (is("true") || is("false")) return {JsonKind::boolean, 0, 0, {}};
  if (!is("null")) bad();
  return {};
}

std::string JsonCursor::path() const {
  std::string out;
  for (const std::string_view key : path_) {
    if (key.empty()) continue;
    if (!out.empty()) out += ": ";
    out += key;
  }
  return out;
}

}  // namespace gpuplan
