#include "fields.hpp"

#include <gpuplan/base/text.hpp>

#include <charconv>
#include <cmath>
#include <utility>

namespace gpuplan {
namespace {

std::string shown(const Node& node) {
  switch (node.kind) {
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::mapping:
      return "a mapping";
    case Node::Kind::null:
      return "null";
    case Node::Kind::scalar:
      break;
  }
  constexpr std::size_t most = 40;
  const std::string text = node.scalar.size() > most ? node.scalar.substr(0, most) + "…" : node.scalar;
  return node.quoted ? "the text '" + text + "'" : "'" + text + "'";
}

}  // namespace

std::optional<std::string> string_of(const Node* node) {
  if (!node || node->kind != Node::Kind::scalar || !node->quoted) return std::nullopt;
  return node->scalar;
}

std::optional<std::int64_t> whole_number_of(const Node* node) {
  if (!node || node->kind != Node::Kind::scalar || node->quoted) return std::nullopt;
  const char* const begin = node->scalar.data();
  const char* const end = begin + node->scalar.size();
  std::int64_t whole = 0;
  if (const auto [at, error] = std::from_chars(begin, end, whole); error == std::errc() && at == end) return whole;
  double number = 0;
  const auto [at, error] = std::from_chars(begin, end, number);
  constexpr double most = 1e15;  // exact in a double
  if (error != std::errc() || at != end || !(std::abs(number) <= most) || std::trunc(number) < number ||
      std::trunc(number) > number) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(number);
}

std::optional<double> number_of(const Node* node) {
  if (!node || node->kind != Node::Kind::scalar || node->quoted) return std::nullopt;
  const char* const end = node->scalar.data() + node->scalar.size();
  double number = 0;
  const auto [at, error] = std::from_chars(node->scalar.data(), end, number);
  if (error != std::errc() || at != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<bool> boolean_of(const Node* node) {
  if (!node || node->kind != Node::Kind::scalar || node->quoted) return std::nullopt;
  if (node->scalar == "true" || node->scalar == "1") return true;
  if (node->scalar == "false" || node->scalar == "0") return false;
  return std::nullopt;
}

const Node* Fields::find(Keys keys) const {
  for (const std::string_view key : keys) {
    const Node* found = node_.find(key);
    if (found && found->kind != Node::Kind::null) return found;
  }
  return nullptr;
}

std::optional<std::int64_t> Fields::parse(const Node& node, std::string_view key, std::int64_t least) {
  const std::optional<std::int64_t> value = whole_number_of(&node);
  if (value && *value >= least && *value <= kMost) return value;
  Problem p;
  p.id = "input.bad_value";
  p.message = "'" + std::string(key) + "' is " + shown(node);
  p.expected = "a whole number from " + std::to_string(least) + " to " + std::to_string(kMost);
  p.place = node.place;
  problems_.problem(std::move(p));
  return std::nullopt;
}

/// The number under the first key that is there; one that cannot be is a problem and gives `least`.
std::optional<std::int64_t> Fields::whole(Keys keys, std::int64_t least) {
  for (const std::string_view key : keys) {
    const Node* found = find({key});
    if (found) return parse(*found, key, least).value_or(least);
  }
  return std::nullopt;
}

std::int64_t Fields::count(Keys keys) {
  if (const auto value = whole(keys, 1)) return *value;
  missing(*keys.begin());
  return 1;
}

std::int64_t Fields::count_or(Keys keys, std::int64_t otherwise) { return whole(keys, 1).value_or(otherwise); }

std::int64_t Fields::assumed(Keys keys, std::int64_t otherwise) {
  if (const auto value = whole(keys, 1)) return *value;
  bool stated = false;
  for (const std::string_view key : keys) stated = stated || states(key);
  if (!stated) {
    warn("model.assumed", "'" + std::string(*keys.begin()) + "' is not in the config: " + std::to_string(otherwise) +
                              ", the format's default, is taken");
  }
  return otherwise;
}

std::int64_t Fields::amount_or(Keys keys, std::int64_t otherwise) { return whole(keys, 0).value_or(otherwise); }

std::optional<std::int64_t> Fields::amount(Keys keys) { return whole(keys, 0); }

bool Fields::flag(Keys keys, bool otherwise) {
  for (const std::string_view key : keys) {
    const Node* found = find({key});
    if (!found) continue;
    if (const auto value = boolean_of(found)) return *value;
    wrong(key, "'" + std::string(key) + "' is " + shown(*found), "true or false");
    return otherwise;
  }
  return otherwise;
}

std::string Fields::text(Keys keys) const { return string_of(find(keys)).value_or(""); }

std::vector<std::string> Fields::texts(std::string_view key) const {
  std::vector<std::string> out;
  const Node* list = find({key});
  if (!list || list->kind != Node::Kind::sequence) return out;
  for (const Node& item : list->items) out.push_back(string_of(&item).value_or(""));
  return out;
}

std::vector<std::int64_t> Fields::amounts(std::string_view key) {
  std::vector<std::int64_t> out;
  const Node* list = find({key});
  if (!list) return out;
  if (list->kind != Node::Kind::sequence) {
    wrong(key, "'" + std::string(key) + "' is " + shown(*list), "a list of whole numbers");
    return out;
  }
  for (const Node& item : list->items) {
    if (const auto value = parse(item, key, 0)) out.push_back(*value);
  }
  return out;
}

void Fields::warn(std::string id, std::string message, std::string_view key) {
  Problem p;
  p.id = std::move(id);
  p.message = std::move(message);
  const Node* at = key.empty() ? nullptr : node_.find(key);
  p.place = at ? at->place : node_.place;
  notes_.warnings.push_back(std::move(p));
}

void Fields::wrong(std::string_view key, std::string message, std::string expected) {
  Problem p;
  p.id = "input.bad_value";
  p.message = std::move(message);
  p.expected = std::move(expected);
  const Node* at = node_.find(key);
  p.place = at ? at->place : node_.place;
  problems_.problem(std::move(p));
}

std::int64_t bounded_count(Fields& in, std::string_view key, std::int64_t otherwise, std::int64_t most) {
  const std::int64_t value = otherwise > 0 ? in.count_or({key}, otherwise) : in.count({key});
  if (value <= most) return value;
  in.wrong(key, "'" + std::string(key) + "' is " + std::to_string(value),
           "a whole number from 1 to " + std::to_string(most));
  return 1;
}

std::int64_t bounded_product(std::initializer_list<std::int64_t> factors) {
  constexpr double most = 2e15;  // above what check_part lets through, far below 2^63
  double exact = 1;
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    exact *= static_cast<double>(factor);
    if (exact > most) return static_cast<std::int64_t>(most);
    product *= factor;
  }
  return product;
}

std::int64_t positive_or(Fields& in, std::string_view key, std::int64_t otherwise) {
  const std::int64_t stated = whole_number_of(in.find({key})).value_or(1);
  return stated < 0 ? otherwise : in.amount_or({key}, otherwise);
}

}  // namespace gpuplan
