#include "header_json.hpp"

#include "bytes.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <functional>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kFewKeys = 16;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// The keys of one object, each once. A map of the tensors of a large model has a hundred thousand of them, one of a tensor three.
class KeySet {
 public:
  void clear() {
    keys_.clear();
    hashes_.clear();
    places_.clear();
  }

  /// False when the key was there before. The text it views must stay.
  bool insert(std::string_view key) {
    if (keys_.size() < kFewKeys) {
      if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) return false;
      keys_.push_back(key);
      return true;
    }
    if (2 * (keys_.size() + 1) > places_.size()) grow();
    const std::size_t hash = std::hash<std::string_view>{}(key);
    std::size_t at = hash & (places_.size() - 1);
    for (; places_[at] != 0; at = (at + 1) & (places_.size() - 1)) {
      const std::size_t i = places_[at] - 1;
      if (hashes_[i] == hash && keys_[i] == key) return false;
    }
    keys_.push_back(key);
    hashes_.push_back(hash);
    places_[at] = static_cast<std::uint32_t>(keys_.size());
    return true;
  }

 private:
  void grow() {
    for (std::size_t i = hashes_.size(); i < keys_.size(); ++i) {
      hashes_.push_back(std::hash<std::string_view>{}(keys_[i]));
    }
    places_.assign(places_.empty() ? 8 * kFewKeys : 4 * places_.size(), 0);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      std::size_t at = hashes_[i] & (places_.size() - 1);
      while (places_[at] != 0) at = (at + 1) & (places_.size() - 1);
      places_[at] = static_cast<std::uint32_t>(i + 1);
    }
  }

  std::vector<std::string_view> keys_;
  std::vector<std::size_t> hashes_;
  std::vector<std::uint32_t> places_;  // an open table of numbers of keys from 1; empty while there are few
};

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

/// A parser of its own: headers of large models are tens of megabytes, and a general one takes ten times as long.
class Walker {
 public:
  Walker(std::string_view text, const std::string& origin, JsonVisitor& visitor)
      : text_(text), origin_(origin), visitor_(visitor) {
    if (text.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  void walk() {
    value();
    skip_space();
    if (at_ != text_.size()) bad();
  }

 private:
  [[noreturn]] void bad() const {
    ErrorFinder finder(origin_);
    (void)nlohmann::json::sax_parse(text_.data(), text_.data() + text_.size(), &finder);
    refuse("input.syntax", origin_, "bad JSON at byte " + std::to_string(at_ + 1));
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }
  /// The next character that is no space.
  char next() {
    skip_space();
    if (at_ == text_.size()) bad();
    return text_[at_];
  }
  void expect(char c) {
    if (next() != c) bad();
    ++at_;
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  void give(const JsonValue& value) { visitor_.visit(keys_, value); }

  void value() {
    const char c = next();
    if (c == '{') {
      object();
    } else if (c == '[') {
      array();
    } else if (c == '"') {
      give({JsonValue::Kind::text, 0, false, 0, string()});
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      number();
    } else {
      word();
    }
  }

  void begin(JsonValue::Kind kind) {
    if (keys_.size() >= kMaxDepth) {
      refuse("input.too_deep", origin_, "the header is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    ++at_;
    give({kind});
    keys_.emplace_back();
  }

  void object() {
    begin(JsonValue::Kind::object);
    const std::size_t depth = keys_.size() - 1;
    if (seen_.size() <= depth) seen_.resize(depth + 1);
    seen_[depth].clear();
    if (!take('}')) {
      do {
        if (next() != '"') bad();
        const std::string_view name = string();
        keys_.back().assign(name);
        if (!seen_[depth].insert(name)) {
          refuse("input.duplicate_key", origin_, "key " + in_quotes(key_path(keys_)) + " is there twice",
                 "each key once");
        }
        expect(':');
        value();
      } while (take(','));
      expect('}');
    }
    keys_.pop_back();
  }

  void array() {
    begin(JsonValue::Kind::array);
    if (!take(']')) {
      do {
        value();
      } while (take(','));
      expect(']');
    }
    keys_.pop_back();
  }

  /// What stands between the quotes: a view of the text, or of what its escapes stand for.
  std::string_view string() {
    const std::size_t from = at_ + 1;
    bool plain = true;
    bool ascii = true;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
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

  std::size_t digits() {
    const std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    if (at_ == from) bad();
    return at_ - from;
  }
  bool is_at(char a, char b) const { return at_ < text_.size() && (text_[at_] == a || text_[at_] == b); }

  void number() {
    const std::size_t from = at_;
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
    const std::string_view written = text_.substr(from, at_ - from);
    if (is_whole && whole(written)) return;
    const double value = std::strtod(std::string(written).c_str(), nullptr);
    if (!std::isfinite(value)) bad();
    give({JsonValue::Kind::number, 0, false, value, written});
  }

  /// False when the number does not fit into 64 bits.
  bool whole(std::string_view written) {
    const char* const end = written.data() + written.size();
    std::int64_t value = 0;
    if (std::from_chars(written.data(), end, value).ec == std::errc()) {
      give({JsonValue::Kind::whole, value, value < 0, static_cast<double>(value)});
      return true;
    }
    std::uint64_t large = 0;
    if (written.starts_with('-') || std::from_chars(written.data(), end, large).ec != std::errc()) return false;
    refuse("input.bad_value", origin_, "number " + std::to_string(large) + " of " + key_path(keys_) + " is too large",
           "a number below 2^63");
  }

  void word() {
    const auto is = [&](std::string_view word) {
      if (!text_.substr(at_).starts_with(word)) return false;
      at_ += word.size();
      return true;
    };
    if (is("true") || is("false")) {
      give({JsonValue::Kind::boolean});
    } else if (is("null")) {
      give({});
    } else {
      bad();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const std::string& origin_;
  JsonVisitor& visitor_;
  std::vector<std::string> keys_;
  std::vector<KeySet> seen_;           // by depth
  std::deque<std::string> unescaped_;  // that keys view
};

}  // namespace

std::string key_path(const std::vector<std::string>& keys) {
  std::string out;
  for (const std::string& key : keys) {
    if (key.empty()) continue;
    if (!out.empty()) out += ": ";
    out += key;
  }
  return out;
}

void walk_json(std::string_view text, const std::string& origin, JsonVisitor& visitor) {
  Walker(text, origin, visitor).walk();
}

}  // namespace gpuplan
