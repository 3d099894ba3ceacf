#include "json_tree.hpp"

#include <gpuplan/base/expression.hpp>
#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/report/render.hpp>

namespace gpuplan {
namespace {

using Json = nlohmann::ordered_json;

// `options[0].cost` as the steps options, 0, cost; nullptr when a step leads nowhere.
const Json* walk(const Json& root, std::string_view path) {
  const Json* at = &root;
  while (!path.empty() && at) {
    if (path.front() == '.') path.remove_prefix(1);
    if (!path.empty() && path.front() == '[') {
      const auto close = path.find(']');
      if (close == std::string_view::npos) return nullptr;
      const auto index = parse_count_or_zero(path.substr(1, close - 1));
      if (!index.value || !at->is_array() || static_cast<std::size_t>(*index.value) >= at->size()) return nullptr;
      at = &(*at)[static_cast<std::size_t>(*index.value)];
      path.remove_prefix(close + 1);
      continue;
    }
    const auto end = std::min(path.find_first_of(".["), path.size());
    const std::string key(path.substr(0, end));
    // Lists of terms are addressed by id: `best.memory.terms.weights.bytes`.
    if (at->is_array()) {
      const Json* found = nullptr;
      for (const auto& item : *at) {
        if (item.is_object() && item.contains("id") && item["id"] == key) found = &item;
      }
      at = found;
    } else {
      at = at->is_object() && at->contains(key) ? &at->at(key) : nullptr;
    }
    path.remove_prefix(end);
  }
  return at;
}

std::optional<ExpressionValue> value_of(const Json& root, std::string_view name) {
  constexpr std::string_view kBest = "best";
  const Json* found = nullptr;
  if (name.substr(0, kBest.size()) == kBest && (name.size() == kBest.size() || name[kBest.size()] == '.')) {
    // Without any option nothing about the best one holds, and its values are unknown.
    if (root.contains("options") && root["options"].empty()) return ExpressionValue{};
    found = walk(root, "options[0]" + std::string(name.substr(kBest.size())));
  } else if (name == "options.size") {
    return ExpressionValue{static_cast<double>(root.value("options", Json::array()).size())};
  } else {
    found = walk(root, name);
    // Groups of a validation and terms of a log are addressed by their ids: `kv_tokens.mean_abs_error`.
    for (const char* list : {"groups", "terms"}) {
      if (!found && root.contains(list)) found = walk(root[list], name);
    }
  }
  if (!found || found->is_object() || found->is_array()) return std::nullopt;
  if (found->is_null()) return ExpressionValue{};
  if (found->is_boolean()) return ExpressionValue{found->get<bool>()};
  if (found->is_number()) return ExpressionValue{found->get<double>()};
  return ExpressionValue{found->get<std::string>()};
}

std::string text_of(const ExpressionValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return format_shortest(*number);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
  return "unknown";
}

}  // namespace

AssertionResult check_assertion(const Document& document, std::string_view expression) {
  const Json tree = json_of(document);
  AssertionResult result;
  const auto look_up = [&](std::string_view name) {
    const auto value = value_of(tree, name);
    if (value) result.seen += (result.seen.empty() ? "" : ", ") + std::string(name) + " is " + text_of(*value);
    return value;
  };
  result.holds = evaluate_condition(expression, look_up, "--assert");
  return result;
}

}  // namespace gpuplan
