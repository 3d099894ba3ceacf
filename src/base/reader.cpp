#include <gpuplan/base/reader.hpp>

#include "source.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

constexpr std::size_t kMaxExcerpts = 200;  // each is found by going through the text
constexpr std::size_t kNamedKeys = 16;     // in "expected"

std::string kind_in_words(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return "a single value";
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::mapping:
      return "a mapping";
  }
  return {};
}

Problem make_problem(std::string id, std::string message, const Place& place, std::string expected = {},
                     std::string nearest = {}) {
  Problem p;
  p.id = std::move(id);
  p.message = std::move(message);
  p.place = place;
  p.expected = std::move(expected);
  p.nearest = std::move(nearest);
  return p;
}

Problem wrong_kind(const Node& node, std::string_view key, const std::string& expected) {
  if (node.kind == Node::Kind::null) {
    return make_problem("input.missing_value", quote(key) + " has no value", node.place, expected);
  }
  return make_problem("input.bad_type", quote(key) + " is " + kind_in_words(node.kind), node.place, expected);
}

std::string name_keys(const std::vector<std::string>& keys) {
  const std::size_t shown = std::min(keys.size(), kNamedKeys);
  std::string out = join(std::span(keys).first(shown), ", ");
  return shown < keys.size() ? out + ", …" : out;
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

Reader::Reader(const Node& root, std::string_view origin)
    : node_(&root), source_(root.source), problems_(std::make_shared<std::vector<Problem>>()) {
  if (root.kind == Node::Kind::mapping) return;
  Place place = root.place;
  if (place.origin.empty()) place.origin = origin;
  if (root.kind == Node::Kind::null) {
    problem(make_problem("input.empty", "the document is empty", place, "a mapping, 'key: value'"));
  } else {
    problem(make_problem("input.bad_type", "the document is " + kind_in_words(root.kind), place,
                         "a mapping, 'key: value'"));
  }
}

Reader::Reader(const Node& node, const Reader& parent)
    : node_(&node), source_(parent.source_), problems_(parent.problems_) {}

std::vector<Reader> Reader::each(std::string_view key) {
  std::vector<Reader> out;
  const Node* node = take(key);
  if (!node || node->kind == Node::Kind::null) return out;
  if (node->kind != Node::Kind::sequence) {
    problem(wrong_kind(*node, key, "a list of mappings, each after '- '"));
    return out;
  }
  for (const Node& item : node->items) {
    if (item.kind == Node::Kind::mapping) {
      out.push_back(Reader(item, *this));
    } else {
      problem(make_problem("input.bad_type", "an entry of " + quote(key) + " is " + kind_in_words(item.kind),
                           item.place, "a mapping, 'key: value'"));
    }
  }
  return out;
}

std::optional<Reader> Reader::child(std::string_view key) {
  const Node* node = take(key);
  if (!node || node->kind == Node::Kind::null) return std::nullopt;
  if (node->kind != Node::Kind::mapping) {
    problem(wrong_kind(*node, key, "a mapping, 'key: value'"));
    return std::nullopt;
  }
  return Reader(*node, *this);
}

bool Reader::has(std::string_view key) const { return node_->find(key) != nullptr; }

Place Reader::place_of(std::string_view key) const {
  const Node* node = node_->find(key);
  return node ? node->place : node_->place;
}

void Reader::problem(Problem p) {
  if (!p.place) p.place = node_->place;
  const bool here = p.place->line > 0 && p.place->origin == node_->place.origin;
  if (here && p.excerpt.empty() && source_ && problems_->size() < kMaxExcerpts) {
    p.excerpt = source_line(*source_, p.place->line);
  }
  problems_->push_back(std::move(p));
}

void Reader::done() {
  // Nobody reads the hundredth suggestion, and likeness is dear.
  constexpr std::size_t kSuggestions = 100;
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  const std::string expected = name_keys(asked_);
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < node_->keys.size(); ++i) {
    const std::string& key = node_->keys[i];
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    std::string nearest = ++unknown <= kSuggestions ? nearest_name(key, known) : std::string();
    problem(make_problem("input.unknown_key", "unknown key " + quote(key), node_->key_places[i], expected,
                         std::move(nearest)));
  }
}

void Reader::finish() const {
  if (!problems_->empty()) throw InputError(*problems_);
}

const Node* Reader::take(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
  return node_->find(key);
}

std::vector<const Node*> Reader::take_items(std::string_view key) {
  const Node* node = take(key);
  if (!node || node->kind == Node::Kind::null) return {};
  if (node->kind == Node::Kind::scalar) return {node};
  std::vector<const Node*> out;
  if (node->kind == Node::Kind::mapping) {
    problem(wrong_kind(*node, key, "a list"));
    return out;
  }
  for (const Node& item : node->items) out.push_back(&item);
  return out;
}

void Reader::missing(std::string_view key) {
  if (node_->kind != Node::Kind::mapping) return;  // said once, when the reader was made
  problem(make_problem("input.missing_key", "missing key " + quote(key), node_->place));
}

void Reader::not_scalar(const Node& node, std::string_view key) { problem(wrong_kind(node, key, "a single value")); }

void Reader::bad_value(const Node& node, std::string id, std::string message, std::string expected,
                       std::string nearest) {
  problem(make_problem(std::move(id), std::move(message), node.place, std::move(expected), std::move(nearest)));
}

}  // namespace gpuplan
