#include "source.hpp"
#include "tree_builder.hpp"

#include <gpuplan/base/reader.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gpuplan {
namespace {

/// Follows nlohmann's parser through the text by itself, token by token: its events come without places, and numbers
/// without their text.
class JsonTree {
 public:
  JsonTree(std::shared_ptr<const std::string> source, std::string_view origin, std::size_t max_nodes)
      : text_(*source), places_(text_, origin), tree_(std::move(source), max_nodes) {}

  bool null() {
    Node node;
    node.place = next_place();
    skip_word();
    tree_.add_leaf(std::move(node));
    return true;
  }
  bool boolean(bool /*value*/) { return word(); }
  bool number_integer(std::int64_t /*value*/) { return word(); }
  bool number_unsigned(std::uint64_t /*value*/) { return word(); }
  bool number_float(double /*value*/, const std::string& /*text*/) { return word(); }
  bool binary(nlohmann::json::binary_t& /*value*/) { return false; }  // not in JSON text

  bool string(std::string& value) {
    Node node;
    node.kind = Node::Kind::scalar;
    node.quoted = true;
    node.place = next_place();
    node.scalar = std::move(value);
    skip_string();
    tree_.add_leaf(std::move(node));
    return true;
  }
  bool key(std::string& name) {
    const Place place = next_place();
    skip_string();
    tree_.key(std::move(name), place);
    return true;
  }

  bool start_object(std::size_t /*size*/) { return begin(Node::Kind::mapping); }
  bool start_array(std::size_t /*size*/) { return begin(Node::Kind::sequence); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }

  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& error) {
    skip_space();
    const std::string_view token = word_at(offset_);
    if (error.id == 406) {
      tree_.fail("input.bad_value", "number " + quote(token) + " is too large", places_.at(offset_));
    }
    const std::string_view unsigned_token = token.substr(token.starts_with('-') ? 1 : 0);
    if (unsigned_token == "NaN" || unsigned_token == "Infinity") {
      tree_.fail("input.syntax", "bad JSON: " + quote(token) + " is not a number", places_.at(offset_),
                 "a finite number");
    }
    // Inside a string, say where; otherwise the token that cannot stand here.
    const bool in_string = offset_ < text_.size() && text_[offset_] == '"';
    const std::size_t at = in_string && position > offset_ ? position - 1 : offset_;
    tree_.fail("input.syntax", "bad JSON: " + reason(error.what()), places_.at(at));
  }

  Node finish() { return tree_.finish(); }

 private:
  /// nlohmann's words without its prefix and without the last token, which may be megabytes.
  static std::string reason(std::string_view what) {
    return std::string(strip_prefix(what.substr(0, what.find("; last read: "))));
  }
  static std::string_view strip_prefix(std::string_view what) {
    for (const std::string_view mark : {" - ", ": "}) {
      if (const std::size_t at = what.find(mark); at != std::string_view::npos) return what.substr(at + mark.size());
    }
    return what;
  }

  void skip_space() {
    while (offset_ < text_.size() && std::string_view(" \t\r\n,:").find(text_[offset_]) != std::string_view::npos) {
      ++offset_;
    }
  }
  Place next_place() {
    skip_space();
    return places_.at(offset_);
  }
  [[nodiscard]] std::string_view word_at(std::size_t from) const {
    std::size_t end = text_.find_first_of(" \t\r\n,:]}[{\"", from);
    if (end == std::string_view::npos) end = text_.size();
    return text_.substr(std::min(from, end), end - std::min(from, end));
  }
  std::string_view skip_word() {
    const std::string_view found = word_at(offset_);
    offset_ += found.size();
    return found;
  }
  void skip_string() {
    ++offset_;  // the opening quote; the parser has seen the closing one
    while (offset_ < text_.size() && text_[offset_] != '"') offset_ += text_[offset_] == '\\' ? 2 : 1;
    ++offset_;
  }

  bool word() {
    Node node;
    node.kind = Node::Kind::scalar;
    node.place = next_place();
    node.scalar = skip_word();
    tree_.add_leaf(std::move(node));
    return true;
  }
  bool begin(Node::Kind kind) {
    const Place place = next_place();
    ++offset_;
    tree_.begin(kind, place);
    return true;
  }
  bool end() {
    skip_space();
    ++offset_;
    tree_.add(tree_.end());
    return true;
  }

  std::string_view text_;
  PlaceFinder places_;
  TreeBuilder tree_;
  std::size_t offset_ = 0;
};

/// The text with each NaN and Infinity outside strings overwritten by a zero of the same length, so that the parser goes on
/// and every offset stays. Empty when there is none.
std::string without_non_finite(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {{"NaN", "0e0"}, {"Infinity", "0.000000"}};
  std::string masked;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') in_string = !in_string;
    if (in_string && text[i] == '\\') ++i;
    if (in_string || (text[i] != 'N' && text[i] != 'I')) continue;
    for (const auto& [word, zero] : words) {
      if (text.substr(i, word.size()) != word) continue;
      if (masked.empty()) masked = text;
      masked.replace(i, word.size(), zero);
    }
  }
  return masked;
}

}  // namespace

Node parse_json(std::string_view text, std::string_view origin, std::size_t max_nodes, NonFinite non_finite) {
  text = without_byte_order_mark(text);
  check_text(text, origin);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    Problem problem;
    problem.id = "input.empty";
    problem.message = "the document is empty";
    problem.place = Place{std::string(origin), 0, 0};
    throw InputError(std::move(problem));
  }
  const auto source = std::make_shared<const std::string>(text);
  JsonTree tree(source, origin, max_nodes);
  const std::string masked = non_finite == NonFinite::accepted ? without_non_finite(*source) : std::string();
  const std::string& parsed = masked.empty() ? *source : masked;
  const bool ok = nlohmann::json::sax_parse(parsed.data(), parsed.data() + parsed.size(), &tree);
  GPUPLAN_ASSERT(ok, "a JSON error is thrown by its handler");
  return tree.finish();
}

}  // namespace gpuplan
