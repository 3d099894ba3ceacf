#pragma once
/// JSON of a file's header, read from front to back by whoever knows what should stand there. Nothing is built and nothing is
/// allocated a key, so that memory does not depend on what a header holds; places are keys, not lines, because no person wrote it.
///
///     JsonCursor json(text, "model.safetensors");
///     json.object([&](std::string_view name) { json.kind() == JsonKind::object ? read_tensor(name, json) : json.skip(); });
///     json.finish();
///
/// Throws InputError: `input.syntax` (also for NaN and a second document), `input.duplicate_key`, `input.too_deep`,
/// `input.bad_value` for whole numbers past 2^63.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuplan {

enum class JsonKind { null, boolean, whole, number, text, object, array };

/// Anything but an object and an array.
struct JsonScalar {
  JsonKind kind = JsonKind::null;
  std::int64_t whole = 0;  ///< of `whole`
  double number = 0;       ///< of `whole` and `number`
  std::string_view text;   ///< of `text`; of numbers: as written
};

/// The keys of one object, each once. A map of the tensors of a large model has a hundred thousand of them, one of a tensor three.
class JsonKeys {
 public:
  void clear();
  void reserve(std::size_t keys) { keys_.reserve(keys); }
  /// False when the key was there before. The text it views must stay.
  bool insert(std::string_view key);

 private:
  struct Key {
    std::string_view text;
    std::size_t hash = 0;  ///< once there is a table
  };
  bool is_in_table(const Key& key);
  [[nodiscard]] std::size_t mark(std::size_t hash) const { return (hash >> 32) & ~(table_.size() - 1) & 0xffffffffU; }
  void make_table();
  void place(std::size_t number);

  std::vector<Key> keys_;
  bool ascending_ = true;  // as writers sort them: a key after the last one is new
  std::vector<std::uint32_t>
      table_;             // of a key its number from 1 and above it as much of its hash as there is room for
  std::size_t used_ = 0;  // entries of the table that may not be 0
};

class JsonCursor {
 public:
  JsonCursor() = default;
  /// @param text, origin  stay as long as they are read
  JsonCursor(std::string_view text, const std::string& origin) { start(text, origin); }
  /// At the beginning of another text, with the memory at hand.
  void start(std::string_view text, const std::string& origin);

  /// Of the value that comes; nothing is taken. `number` stands for whole numbers, too, and `null` for any bare word.
  JsonKind kind();
  /// The members of the object that comes: `member(key)` takes the value of each.
  /// @param expected  about how many they are, for an object that is most of the text
  template <class Member>
  void object(Member member, std::size_t expected = 0) {
    JsonKeys& keys = begin('{');
    if (expected > 0) keys.reserve(expected);
    if (!take('}')) {
      do {
        path_.back() = key();
        if (!keys.insert(path_.back())) refuse_duplicate();
        member(path_.back());
      } while (take(','));
      expect('}');
    }
    path_.pop_back();
  }
  /// The same where `member` itself sees to it that no key is there twice, see `refuse_duplicate`.
  template <class Member>
  void members(Member member) {
    begin('{');
    if (!take('}')) {
      do {
        path_.back() = key();
        member(path_.back());
      } while (take(','));
      expect('}');
    }
    path_.pop_back();
  }
  /// Of the key that was taken last.
  [[noreturn]] void refuse_duplicate() const;
  /// The elements of the array that comes: `element()` takes each.
  template <class Element>
  void array(Element element) {
    begin('[');
    if (!take(']')) {
      do {
        element();
      } while (take(','));
      expect(']');
    }
    path_.pop_back();
  }
  JsonScalar scalar();
  /// Takes whatever comes, and checks it.
  void skip();
  /// Nothing but space is left.
  void finish();

  /// Bytes that are left.
  [[nodiscard]] std::size_t remaining() const { return text_.size() - at_; }
  /// Of the value that was taken last: `layers.0.weight: shape`.
  [[nodiscard]] std::string path() const;
  /// What views of texts with escapes point to, for those that outlive the cursor.
  std::deque<std::string> take_unescaped() { return std::move(unescaped_); }

 private:
  [[noreturn]] void bad() const;
  /// The next character that is no space.
  char next() {
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) <= ' ') {
      if (!is_space(text_[at_])) bad();
      ++at_;
    }
    if (at_ == text_.size()) bad();
    return text_[at_];
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) bad();
  }
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  JsonKeys& begin(char bracket);
  std::string_view key();
  std::string_view string();
  JsonScalar number();
  bool whole(std::string_view written, JsonScalar& out) const;
  JsonScalar word();
  std::size_t digits();
  [[nodiscard]] bool is_at(char a, char b) const { return at_ < text_.size() && (text_[at_] == a || text_[at_] == b); }

  std::string_view text_;
  std::size_t at_ = 0;
  const std::string* origin_ = nullptr;
  std::vector<std::string_view> path_;  // an array adds an empty one
  std::deque<JsonKeys> keys_;           // by depth
  std::deque<std::string> unescaped_;   // that texts view
};

}  // namespace gpuplan
