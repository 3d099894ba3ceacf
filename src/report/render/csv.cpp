#include "json_tree.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/report/render.hpp>

#include <map>
#include <vector>

namespace gpuplan {
namespace {

using Json = nlohmann::ordered_json;

std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string field(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return csv_quoted(value.get<std::string>());
  if (value.is_number_float()) return format_shortest(value.get<double>());
  return value.dump();
}

// Objects become dotted columns, lists of {id, …} become a column an id.
void flatten(const Json& value, const std::string& prefix, std::vector<std::pair<std::string, std::string>>& out) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) flatten(child, prefix.empty() ? key : prefix + "." + key, out);
  } else if (value.is_array()) {
    for (const auto& item : value) {
      if (!item.is_object() || !item.contains("id")) continue;
      const std::string id = prefix + "." + item["id"].get<std::string>();
      for (const auto& [key, child] : item.items()) {
        if (key != "id") flatten(child, id + "." + key, out);
      }
    }
  } else {
    out.emplace_back(prefix, field(value));
  }
}

// Rows may have different terms: the header is the union, in order of appearance.
std::string table_of(const Json& items) {
  std::vector<std::string> columns;
  std::map<std::string, std::size_t> index;
  std::vector<std::vector<std::pair<std::string, std::string>>> rows;
  for (const auto& item : items) {
    auto& row = rows.emplace_back();
    flatten(item, "", row);
    for (const auto& [name, value] : row) {
      if (index.emplace(name, columns.size()).second) columns.push_back(name);
    }
  }
  std::string out;
  for (std::size_t c = 0; c < columns.size(); ++c) out += (c > 0 ? "," : "") + csv_quoted(columns[c]);
  out += "\r\n";
  for (const auto& row : rows) {
    std::vector<std::string> cells(columns.size());
    for (const auto& [name, value] : row) cells[index.at(name)] = value;
    for (std::size_t c = 0; c < cells.size(); ++c) out += (c > 0 ? "," : "") + cells[c];
    out += "\r\n";
  }
  return out;
}

}  // namespace

std::string render_csv(const Document& document) {
  const Json tree = json_of(document);
  for (const char* list : {"options", "items", "hardware", "fields", "groups", "terms", "times", "operators"}) {
    if (tree.contains(list)) return table_of(tree[list]);
  }
  return table_of(tree["error"]["problems"]);
}

}  // namespace gpuplan
