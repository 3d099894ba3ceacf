#include "source.hpp"
#include "tree_builder.hpp"
#include "utf8.hpp"

#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/text.hpp>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstring>
#include <istream>
#include <memory>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

/// YAML's line ends are LF, CR LF and CR; with LF alone, places and excerpts are simple.
std::string with_unix_line_ends(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      out += '\n';
    }
  }
  return out;
}

/// YAML allows no control characters, and yaml-cpp takes U+0004 for the end of the file.
void check_controls(const std::string& text, std::string_view origin) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c >= 0x20 && c != 0x7F) || c == '\t' || c == '\n') continue;
    Problem problem;
    problem.id = "input.syntax";
    problem.message = fmt::format("bad YAML: control character U+{:04X}", c);
    problem.place = PlaceFinder(text, origin).at(i);
    problem.excerpt = source_line(text, problem.place->line);
    throw InputError(std::move(problem));
  }
}

class YamlTree;

/// Hands the text to yaml-cpp piece by piece, so that the scan can be stopped: yaml-cpp queues all tokens of a flow list
/// before the first event, at a hundred bytes or more each.
class MeteredText : public std::streambuf {
 public:
  MeteredText(const std::string& text, YamlTree& tree, std::size_t limit) : tree_(tree), limit_(limit) {
    char* begin = const_cast<char*>(text.data());  // streambuf has no read-only area; nothing writes to it
    setg(begin, begin, begin + text.size());
  }
  void restart() {
    marks_ = 0;
    brackets_ = 0;
  }

 protected:
  std::streamsize xsgetn(char* out, std::streamsize count) override;

 private:
  YamlTree& tree_;
  std::size_t limit_;
  std::size_t marks_ = 0;     // characters since the last event that can begin or end a token
  std::size_t brackets_ = 0;  // of them, those that open a flow list or mapping
};

class YamlTree : public YAML::EventHandler {
 public:
  YamlTree(const std::shared_ptr<const std::string>& source, std::string_view origin, std::size_t max_nodes)
      : text_(*source),
        origin_(origin),
        tree_(source, max_nodes),
        max_nodes_(max_nodes),
        anchored_room_(max_nodes),
        meter_(*source, *this, 8 * max_nodes + 4096),
        last_event_{origin_, 1, 1} {}

  Node parse() {
    try {
      std::istream in(&meter_);
      YAML::Parser parser(in);
      while (parser.HandleNextDocument(*this)) {
      }
    } catch (const YAML::Exception& error) {
      const Place at = place(error.mark);
      tree_.fail("input.syntax", "bad YAML: " + std::string(trim(error.msg)), at, hint(at));
    }
    if (bad_key_) refuse_key(*bad_key_);
    return tree_.finish();
  }

  [[noreturn]] void refuse_scan(bool deep) {
    const Place at = last_event_;
    if (deep) tree_.too_deep(at);
    tree_.too_many(at);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    const Place at = next(mark);
    if (!started_) {
      started_ = true;
      return;
    }
    const bool is_document = text_.substr(std::min(byte_offset(mark), text_.size())).starts_with("---");
    if (is_document) tree_.fail("input.syntax", "bad YAML: a second document", at, "one document");
    tree_.fail("input.syntax", "bad YAML: unexpected text after the document", at);
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node;
    node.place = next(mark);
    if (skips()) return;
    if (tree_.wants_key()) refuse_key(node.place);
    leaf(std::move(node), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node;
    node.kind = Node::Kind::scalar;
    node.place = next(mark);
    check_end_of_string(mark, node.place);
    if (skips()) return;
    check_tag(tag, node.place);
    if (tree_.wants_key()) {
      if (anchor != YAML::NullAnchor) tree_.fail("input.syntax", "bad YAML: an anchor at a key", node.place);
      tree_.key(value, node.place);
      return;
    }
    node.scalar = value;
    node.quoted = !tag.empty() && tag != "?";
    leaf(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Place at = next(mark);
    if (skips()) return;
    if (tree_.wants_key()) refuse_key(at);
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) tree_.fail("input.syntax", "bad YAML: an alias inside of what it stands for", at);
    tree_.add_copy(found->second, at);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    begin(Node::Kind::sequence, mark, tag, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    begin(Node::Kind::mapping, mark, tag, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapEnd() override { end(); }

 private:
  [[noreturn]] void refuse_key(const Place& at) {
    tree_.fail("input.syntax", "bad YAML: a key that is not a word", at, "a word or a quoted string before the ':'");
  }

  /// A list or mapping as a key is refused after the rest was parsed: to yaml-cpp, one without its end is a key as well,
  /// and then the missing end is what must be said. Until then nothing is built.
  bool skips() {
    if (bad_key_ && ++skipped_ > max_nodes_) tree_.too_many(last_event_);
    return bad_key_.has_value();
  }

  /// yaml-cpp accepts a quoted string that ends with the file, after a line end.
  void check_end_of_string(const YAML::Mark& mark, const Place& at) {
    std::size_t i = byte_offset(mark);
    const auto skip = [&](std::string_view set, bool inside) {
      while (i < text_.size() && (set.find(text_[i]) != std::string_view::npos) == inside) ++i;
    };
    while (i < text_.size() && (text_[i] == '&' || text_[i] == '!')) {  // an anchor or tag before it
      skip(" \n\t", false);
      skip(" \n\t", true);
    }
    if (i >= text_.size() || (text_[i] != '"' && text_[i] != '\'')) return;
    const char quote_mark = text_[i];
    for (++i; i < text_.size(); ++i) {
      const bool doubled = quote_mark == '\'' && text_.substr(i).starts_with("''");
      if (doubled || (quote_mark == '"' && text_[i] == '\\')) {
        ++i;
      } else if (text_[i] == quote_mark) {
        return;
      }
    }
    tree_.fail("input.syntax", "bad YAML: the string has no end", at);
  }

  /// What people do most often when yaml-cpp cannot follow.
  [[nodiscard]] std::string hint(const Place& at) const {
    const std::string line = source_line(text_, at.line);
    const std::string_view indentation = std::string_view(line).substr(0, line.find_first_not_of(" \t"));
    return indentation.find('\t') == std::string_view::npos ? "" : "spaces, not tabs, at the beginning of a line";
  }

  void check_tag(const std::string& tag, const Place& at) {
    if (tag.empty() || tag == "?" || tag == "!" || tag == "tag:yaml.org,2002:str") return;
    tree_.fail("input.syntax", "bad YAML: the tag " + quote(tag) + " is not supported", at, "no tag");
  }

  void begin(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const Place at = next(mark);
    if (bad_key_ || tree_.wants_key()) {
      if (!bad_key_) bad_key_ = at;
      if (static_cast<int>(anchors_.size()) + ++skipped_depth_ > kMaxDocumentDepth) tree_.too_deep(at);
      return;
    }
    check_tag(tag, at);
    tree_.begin(kind, at);
    anchors_.push_back(anchor);
  }

  void end() {
    meter_.restart();
    if (bad_key_) {
      --skipped_depth_;
      return;
    }
    TreeBuilder::Part part = tree_.end();
    remember(anchors_.back(), part);
    anchors_.pop_back();
    tree_.add(std::move(part));
  }

  void leaf(Node node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      TreeBuilder::Part part;
      part.node = node;
      remember(anchor, part);
    }
    tree_.add_leaf(std::move(node));
  }

  void remember(YAML::anchor_t anchor, const TreeBuilder::Part& part) {
    if (anchor == YAML::NullAnchor) return;
    // Anchors inside of anchors are copied once for each level, so that needs a limit, too.
    if (part.nodes > anchored_room_) tree_.too_many(part.node.place);
    anchored_room_ -= part.nodes;
    anchored_.emplace(anchor, part);
  }

  /// The place of an event; the text behind it no longer counts as scanned ahead.
  Place next(const YAML::Mark& mark) {
    meter_.restart();
    last_event_ = place(mark);
    return last_event_;
  }

  [[nodiscard]] static std::size_t byte_offset(const YAML::Mark& mark) {
    return mark.pos < 0 ? 0 : static_cast<std::size_t>(mark.pos);
  }

  /// yaml-cpp counts columns in bytes; people, and editors, in characters.
  [[nodiscard]] Place place(const YAML::Mark& mark) {
    if (mark.is_null()) return {origin_, 0, 0};
    const std::size_t end = std::min(byte_offset(mark), text_.size());
    const std::size_t column = std::min(static_cast<std::size_t>(std::max(mark.column, 0)), end);
    std::size_t from = end - column;
    int characters = 0;
    if (mark.line == cached_line_ && cached_offset_ >= from && cached_offset_ <= end) {
      from = cached_offset_;
      characters = cached_characters_;
    }
    for (; from < end; ++from) characters += is_utf8_continuation(text_[from]) ? 0 : 1;
    cached_line_ = mark.line;
    cached_offset_ = end;
    cached_characters_ = characters;
    return {origin_, mark.line + 1, characters + 1};
  }

  std::string_view text_;
  std::string origin_;
  TreeBuilder tree_;
  std::size_t max_nodes_;
  std::size_t anchored_room_;
  MeteredText meter_;
  bool started_ = false;
  std::optional<Place> bad_key_;
  std::size_t skipped_ = 0;
  int skipped_depth_ = 0;
  std::vector<YAML::anchor_t> anchors_;  // of the open lists and mappings
  std::unordered_map<YAML::anchor_t, TreeBuilder::Part> anchored_;
  Place last_event_;
  int cached_line_ = -1;
  std::size_t cached_offset_ = 0;
  int cached_characters_ = 0;
};

std::streamsize MeteredText::xsgetn(char* out, std::streamsize count) {
  count = std::min<std::streamsize>(count, egptr() - gptr());
  const std::string_view piece(gptr(), static_cast<std::size_t>(count));
  std::memcpy(out, piece.data(), piece.size());
  setg(eback(), gptr() + count, egptr());
  for (const char c : piece) {
    if (std::strchr("[]{},:&*!?-\"'", c) == nullptr) continue;
    ++marks_;
    if (c == '[' || c == '{') ++brackets_;
  }
  if (marks_ > limit_) tree_.refuse_scan(brackets_ > marks_ / 2);
  return count;
}

}  // namespace

Node parse_yaml(std::string_view text, std::string_view origin, std::size_t max_nodes) {
  text = without_byte_order_mark(text);
  check_text(text, origin);
  const auto source = std::make_shared<const std::string>(with_unix_line_ends(text));
  check_controls(*source, origin);
  YamlTree tree(source, origin, max_nodes);
  return tree.parse();
}

}  // namespace gpuplan
