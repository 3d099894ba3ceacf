#include "json_stream.hpp"

#include <cstddef>
#include <iterator>

namespace gpuplan {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxItem = 200000;
constexpr std::size_t kBuffer = std::size_t{256} << 10;

[[noreturn]] void refuse(const std::string& id, const std::string& origin, std::string message, std::string expected) {
  throw InputError(Problem{id, std::move(message), Place{origin, 0, 0}, std::move(expected), {}, {}});
}

// The text as an input iterator, which is what the parser takes.
class ByteFeed {
 public:
  explicit ByteFeed(PriceText& text) : text_(text), buffer_(kBuffer, '\0') { advance(); }
  [[nodiscard]] bool ended() const { return size_ == 0; }
  [[nodiscard]] char current() const { return buffer_[at_]; }
  void advance() {
    if (size_ > 0 && ++at_ < size_) return;
    at_ = 0;
    size_ = text_.read(buffer_.data(), buffer_.size());
  }

 private:
  PriceText& text_;
  std::string buffer_;
  std::size_t at_ = 0, size_ = 0;
};

class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  ByteIterator() = default;
  explicit ByteIterator(ByteFeed& bytes) : bytes_(&bytes) {}
  char operator*() const { return bytes_->current(); }
  ByteIterator& operator++() {
    bytes_->advance();
    return *this;
  }
  ByteIterator operator++(int) {
    ByteIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const ByteIterator& a, const ByteIterator& b) { return a.at_end() == b.at_end(); }
  friend bool operator!=(const ByteIterator& a, const ByteIterator& b) { return !(a == b); }

 private:
  [[nodiscard]] bool at_end() const { return bytes_ == nullptr || bytes_->ended(); }
  ByteFeed* bytes_ = nullptr;
};

class ItemWalker {
 public:
  ItemWalker(const std::string& origin, const std::vector<JsonPattern>& patterns,
             const std::function<void(const JsonItem&)>& on_item)
      : origin_(origin), patterns_(patterns), on_item_(on_item) {}

  bool null() { return give(nullptr); }
  bool boolean(bool value) { return give(value); }
  bool number_integer(std::int64_t value) { return give(value); }
  bool number_unsigned(std::uint64_t value) { return give(value); }
  bool number_float(double value, const std::string& /*text*/) { return give(value); }
  bool string(std::string& value) { return give(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) { return false; }  // not in JSON text
  bool start_object(std::size_t /*size*/) { return begin(Json::object()); }
  bool start_array(std::size_t /*size*/) { return begin(Json::array()); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(std::string& name) {
    path_.back() = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const Json::exception& /*error*/) {
    refuse("input.syntax", origin_,
           "bad JSON at byte " + std::to_string(position) + ": unexpected " +
               (token.empty() ? "end" : "'" + token.substr(0, 40) + "'"),
           "one JSON document");
  }

 private:
  [[nodiscard]] const JsonPattern* matched(std::size_t& index, bool is_scalar) const {
    for (index = 0; index < patterns_.size(); ++index) {
      const JsonPattern& pattern = patterns_[index];
      if (pattern.size() != path_.size()) continue;
      bool same = true;
      for (std::size_t i = 0; i < pattern.size() && same; ++i) {
        same = pattern[i] == "*" || pattern[i] == path_[i] || (pattern[i] == "=" && is_scalar);
      }
      if (same) return &pattern;
    }
    return nullptr;
  }
  void put(Json value) {
    if (++values_ > kMaxItem)
      refuse("input.too_large", origin_, "an item of the list holds more than 200,000 values", "");
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
    } else {
      parent[path_.back()] = std::move(value);
    }
  }
  template <class V>
  bool give(V&& value) {
    if (!open_.empty()) {
      put(Json(std::forward<V>(value)));
    } else if (std::size_t index = 0; matched(index, true)) {
      on_item_({index, path_, Json(std::forward<V>(value))});
    }
    return true;
  }
  bool begin(Json value) {
    if (path_.size() >= kMaxDepth)
      refuse("input.too_deep", origin_, "the document is nested deeper than 64 levels", "");
    if (!open_.empty()) {
      put(std::move(value));
      Json& parent = *open_.back();
      open_.push_back(parent.is_array() ? &parent.back() : &parent[path_.back()]);
    } else if (std::size_t index = 0; matched(index, false)) {
      item_ = std::move(value);
      pattern_ = index;
      values_ = 0;
      open_.push_back(&item_);
    }
    path_.emplace_back();
    return true;
  }
  bool end() {
    path_.pop_back();
    if (open_.empty()) return true;
    open_.pop_back();
    if (open_.empty()) on_item_({pattern_, path_, item_});
    return true;
  }

  const std::string& origin_;
  const std::vector<JsonPattern>& patterns_;
  const std::function<void(const JsonItem&)>& on_item_;
  std::vector<std::string> path_;
  Json item_;
  std::vector<Json*> open_;  // into item_
  std::size_t pattern_ = 0, values_ = 0;
};

}  // namespace

void stream_json(PriceText& text, const std::vector<JsonPattern>& patterns,
                 const std::function<void(const JsonItem&)>& on_item) {
  ByteFeed bytes(text);
  ItemWalker walker(text.origin(), patterns, on_item);
  const bool ok = Json::sax_parse(ByteIterator(bytes), ByteIterator(), &walker);
  GPUPLAN_ASSERT(ok, "a JSON error is thrown by its handler");
}

}  // namespace gpuplan
