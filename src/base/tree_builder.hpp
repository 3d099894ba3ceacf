#pragma once
/// Builds a `Node` tree from the events of a parser and keeps the limits that YAML and JSON share: depth, number of nodes,
/// one value for each key.

#include "source.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuplan {

class TreeBuilder {
 public:
  /// A finished value, and what its copies would cost.
  struct Part {
    Node node;
    std::size_t nodes = 1;
    int height = 0;
  };

  TreeBuilder(std::shared_ptr<const std::string> source, std::size_t max_nodes)
      : source_(std::move(source)), max_nodes_(max_nodes) {}

  [[nodiscard]] bool wants_key() const {
    return !open_.empty() && open_.back().part.node.kind == Node::Kind::mapping && !open_.back().key;
  }

  void begin(Node::Kind kind, const Place& place) {
    check_depth(1, place);
    count_node(place);
    Open open;
    open.part.node.kind = kind;
    open.part.node.place = place;
    open_.push_back(std::move(open));
  }

  void key(std::string name, const Place& place) {
    refuse_nul(name, place);
    Open& open = open_.back();
    const auto [first, is_new] = open.first_line.emplace(name, place.line);
    if (!is_new && problems_.size() < kMaxProblems) {
      problems_.push_back(problem("input.duplicate_key", "duplicate key " + quote(name), place,
                                  "each key once (this one is on line " + std::to_string(first->second) + " too)"));
    }
    open.key = std::move(name);
    open.key_place = place;
  }

  /// Closes the innermost list or mapping; the caller then hands it to `add`.
  Part end() {
    Part part = std::move(open_.back().part);
    open_.pop_back();
    return part;
  }

  void add(Part part) { attach(std::move(part)); }

  /// A scalar or null, with its text.
  void add_leaf(Node node) {
    count_node(node.place);
    refuse_nul(node.scalar, node.place);
    Part part;
    part.node = std::move(node);
    attach(std::move(part));
  }

  /// A copy of a finished value: every node of it counts again.
  void add_copy(const Part& part, const Place& place) {
    if (nodes_ + part.nodes > max_nodes_) too_many(place);
    check_depth(part.height, place);
    nodes_ += part.nodes;
    attach(part);
  }

  /// The root. Throws the duplicate keys when there were any.
  Node finish() {
    if (!problems_.empty()) throw InputError(std::move(problems_));
    root_.source = source_;
    return std::move(root_);
  }

  [[nodiscard]] Problem problem(std::string id, std::string message, const Place& place,
                                std::string expected = {}) const {
    Problem p;
    p.id = std::move(id);
    p.message = std::move(message);
    p.expected = std::move(expected);
    if (place.line > 0) p.excerpt = source_line(*source_, place.line);
    p.place = place;
    return p;
  }

  /// Throws this problem with the duplicate keys found so far.
  [[noreturn]] void fail(std::string id, std::string message, const Place& place, std::string expected = {}) {
    std::vector<Problem> all = std::move(problems_);
    all.push_back(problem(std::move(id), std::move(message), place, std::move(expected)));
    throw InputError(std::move(all));
  }

  [[noreturn]] void too_many(const Place& place) {
    fail("input.too_large",
         "more than " + std::to_string(max_nodes_) + " values, each alias counted as what it stands for", place);
  }
  [[noreturn]] void too_deep(const Place& place) {
    fail("input.too_deep", "nested deeper than " + std::to_string(kMaxDocumentDepth) + " levels", place);
  }

 private:
  static constexpr std::size_t kMaxProblems = 100;  // each carries an excerpt, which is found by going through the text

  struct Open {
    Part part;
    std::optional<std::string> key;
    Place key_place;
    std::unordered_map<std::string, int> first_line;
  };

  void count_node(const Place& place) {
    if (++nodes_ > max_nodes_) too_many(place);
  }
  void check_depth(int height, const Place& place) {
    if (static_cast<int>(open_.size()) + height > kMaxDocumentDepth) too_deep(place);
  }
  void refuse_nul(std::string_view text, const Place& place) {
    if (text.find('\0') != std::string_view::npos) fail("input.binary", "a NUL character in a string", place);
  }

  void attach(Part part) {
    if (open_.empty()) {
      root_ = std::move(part.node);
      return;
    }
    Open& open = open_.back();
    open.part.nodes += part.nodes;
    open.part.height = std::max(open.part.height, part.height + 1);
    if (open.key) {
      open.part.node.keys.push_back(std::move(*open.key));
      open.part.node.key_places.push_back(open.key_place);
      open.key.reset();
    }
    open.part.node.items.push_back(std::move(part.node));
  }

  std::shared_ptr<const std::string> source_;
  std::size_t max_nodes_;
  std::size_t nodes_ = 0;
  std::vector<Open> open_;
  std::vector<Problem> problems_;
  Node root_;
};

}  // namespace gpuplan
