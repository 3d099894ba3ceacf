#pragma once
// The text of a Python or JSON value, as lists have it in a CSV field: {'Name': 'A', 'Count': None} and {"Name": "A"} alike.

#include <nlohmann/json.hpp>

#include <optional>
#include <string_view>

namespace gpuplan {

// Null when the text is no such value. Numbers in quotes stay texts.
std::optional<nlohmann::json> parse_literal(std::string_view text);

}  // namespace gpuplan
