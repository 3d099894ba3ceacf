#include "json_parts.hpp"

namespace gpuplan {
namespace {

Json token_api_json(const TokenApiDocument& a) {
  return {{"provider", a.provider},
          {"model", a.model},
          {"same_name", a.same_name},
          {"input_per_1m", known(a.input_per_1m)},
          {"cached_input_per_1m", known(a.cached_input_per_1m)},
          {"output_per_1m", known(a.output_per_1m)},
          {"per_request", number(a.per_request)},
          {"cost", number(a.cost)},
          {"break_even",
           {{"requests", known(a.break_even_requests)},
            {"output_tokens", known(a.break_even_output_tokens)},
            {"offer", text(a.break_even_offer)},
            {"rented_wins_from_there_on", a.rented_wins_from_there_on}}},
          {"price", {{"observed_on", text(a.observed_on)}, {"source", text(a.source)}, {"imported", a.imported}}}};
}

Json owned_json(const OwnedDocument& o) {
  Json terms = Json::array();
  for (const auto& [id, amount] : o.terms) terms.push_back({{"id", id}, {"amount", number(amount)}});
  return {{"machine", o.machine},
          {"accelerator", o.accelerator},
          {"count", number(o.count)},
          {"capex", number(o.capex)},
          {"fixed_per_month", number(o.fixed_per_month)},
          {"energy_per_hour", number(o.energy_per_hour)},
          {"per_month", number(o.per_month)},
          {"terms", std::move(terms)},
          {"break_even",
           {{"hours_per_month", known(o.break_even_hours)},
            {"wins", o.wins},
            {"rented_offer", text(o.rented_offer)},
            {"rented_per_hour", known(o.rented_per_hour)}}},
          {"source", text(o.source)}};
}

}  // namespace

Json alternatives_json(const AlternativesDocument& d) {
  Json apis = Json::array();
  for (const TokenApiDocument& api : d.token_apis) apis.push_back(token_api_json(api));
  Json owned = Json::array();
  for (const OwnedDocument& machine : d.owned) owned.push_back(owned_json(machine));
  return {{"period", text(d.period)},
          {"requests", number(d.requests)},
          {"output_tokens", number(d.output_tokens)},
          {"cached_share", number(d.cached_share)},
          {"rented_cost", number(d.rented_cost)},
          {"token_apis", std::move(apis)},
          {"owned", std::move(owned)}};
}

}  // namespace gpuplan
