#pragma once
// The JSON form of a document as a tree; keys keep their order.

#include <gpuplan/report/document.hpp>

#include <nlohmann/json.hpp>

namespace gpuplan {

nlohmann::ordered_json json_of(const Document& document);

}  // namespace gpuplan
