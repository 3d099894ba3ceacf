#pragma once
// Pieces of the JSON form that several documents share.

#include "json_tree.hpp"

#include <string>
#include <vector>

namespace gpuplan {

using Json = nlohmann::ordered_json;

// Unknown is null, and a number that is none never reaches a writer.
Json number(double value);
Json known(const Known& value);
Json text(const std::string& value);
Json cell_json(const Cell& cell);

Json catalog_json(const CatalogStamp& c);
Json model_json(const ModelDocument& m);
Json job_json(const std::vector<JobValue>& job);
Json alternatives_json(const AlternativesDocument& d);
Json explanation_json(const std::vector<ExplainedTerm>& terms);

// What is planned: json_plans.cpp.
Json to_json(const EstimateDocument& d);
Json to_json(const MemoryReport& d);
Json to_json(const TrainingReport& d);

}  // namespace gpuplan
