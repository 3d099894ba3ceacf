#pragma once
// JSON as a stream of items: of a document of any size only the item at hand is in memory.
//
// A pattern is the path to the items, `*` for any key or place in an array: {"products", "*"} gives each product; `=` is the
// same for texts and numbers alone, "" a place in an array alone. What lies beside the patterns is read and forgotten.

#include <gpuplan/prices/import.hpp>

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace gpuplan {

using JsonPattern = std::vector<std::string>;

struct JsonItem {
  std::size_t pattern = 0;
  const std::vector<std::string>& path;  // keys; places in arrays as empty texts
  const nlohmann::json& value;
};

// Throws InputError: `input.syntax`, `input.too_deep` (64), `input.too_large` (an item of more than 200,000 values).
void stream_json(PriceText& text, const std::vector<JsonPattern>& patterns,
                 const std::function<void(const JsonItem&)>& on_item);

}  // namespace gpuplan
