#include "json_parts.hpp"

#include <gpuplan/base/error.hpp>

#include <cmath>

namespace gpuplan {

// Unknown is null, and a number that is none never reaches a writer.
Json number(double value) {
  GPUPLAN_ASSERT(std::isfinite(value), "a report holds finite numbers only");
  if (value == std::floor(value) && std::fabs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}
Json known(const Known& value) { return value ? number(*value) : Json(nullptr); }
Json text(const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); }

Json cell_json(const Cell& cell) {
  if (const auto* word = std::get_if<std::string>(&cell.value)) return *word;
  if (const auto* truth = std::get_if<bool>(&cell.value)) return *truth;
  if (const auto* value = std::get_if<double>(&cell.value)) return number(*value);
  return nullptr;
}

Json catalog_json(const CatalogStamp& c) {
  return {{"version", c.version},
          {"hash", c.hash},
          {"prices_observed", {{"oldest", text(c.oldest_price)}, {"newest", text(c.newest_price)}}}};
}

Json model_json(const ModelDocument& m) {
  Json parts = Json::array();
  for (const auto& part : m.parts) {
    parts.push_back({{"role", part.role},
                     {"parameters", number(part.parameters)},
                     {"bytes", number(part.bytes)},
                     {"bits_per_weight", number(part.bits_per_weight)}});
  }
  return {{"name", m.name},
          {"requested", m.requested},
          {"source", text(m.source)},
          {"parameters", number(m.parameters)},
          {"active_parameters", number(m.active_parameters)},
          {"weights_bytes", number(m.weights_bytes)},
          {"weights_format", m.weights_format},
          {"kv_bytes_per_token", known(m.kv_bytes_per_token)},
          {"parts", std::move(parts)},
          {"not_modelled", m.not_modelled}};
}

Json job_json(const std::vector<JobValue>& job) {
  Json out = Json::object();
  Json defaults = Json::array();
  for (const JobValue& value : job) {
    if (const auto* word = std::get_if<std::string>(&value.value)) {
      out[value.name] = *word;
    } else {
      out[value.name] = number(std::get<double>(value.value));
    }
    if (value.is_default) defaults.push_back(value.name);
  }
  out["defaults"] = std::move(defaults);
  return out;
}

Json explanation_json(const std::vector<ExplainedTerm>& terms) {
  Json out = Json::array();
  for (const ExplainedTerm& term : terms) {
    Json inputs = Json::array();
    for (const ExplainInput& input : term.inputs) {
      inputs.push_back({{"name", input.name}, {"value", number(input.value)}, {"source", text(input.source)}});
    }
    out.push_back(
        {{"id", term.id}, {"value", number(term.value)}, {"formula", term.formula}, {"inputs", std::move(inputs)}});
  }
  return out;
}

}  // namespace gpuplan
