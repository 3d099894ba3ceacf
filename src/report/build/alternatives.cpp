#include "parts.hpp"

#include <gpuplan/cost/job_cost.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

void describe_token_apis(const Catalog& catalog, const std::string& model, const TokenComparison& work,
                         const AlternativesRequest& asked, AlternativesDocument& into) {
  into.requests = work.requests;
  into.output_tokens = work.requests * work.request.output;
  into.cached_share = work.request.cached_share;
  for (const TokenAlternative& api : token_alternatives(catalog, model, work, asked.imported)) {
    TokenApiDocument d;
    d.provider = api.provider;
    d.provider_title = api.title;
    d.model = api.model;
    d.same_name = api.same_name;
    d.input_per_1m = api.input_per_1m;
    d.output_per_1m = api.output_per_1m;
    d.cached_input_per_1m = api.cached_input_per_1m;
    d.per_request = api.per_request;
    d.cost = api.cost;
    if (api.break_even.requests) {
      d.break_even_requests = *api.break_even.requests;
      d.break_even_output_tokens = *api.break_even.requests * work.request.output;
    }
    d.break_even_offer = api.rented;
    d.rented_wins_from_there_on = api.break_even.rented_wins_from_there_on;
    d.observed_on = api.observed_on;
    d.source = api.source;
    d.imported = api.imported;
    into.token_apis.push_back(std::move(d));
  }
}

// Services sell cheaper what the cache of one's own machine would hold.
TokenComparison comparison(const EstimateRequest& request, const RequestShape& shape, bool batch) {
  TokenComparison work;
  work.request = {static_cast<double>(shape.input), request.job.load.prefix_hit.value.value_or(0),
                  static_cast<double>(shape.output), batch};
  work.currency = request.currency;
  work.vat = request.vat;
  return work;
}

void describe_owned(const Catalog& catalog, const EstimateRequest& request, const std::vector<Option>& options,
                    const OwnedTerms& terms, AlternativesDocument& into) {
  for (const OwnedBreakEven& line : owned_break_even(catalog, request, options, terms)) {
    OwnedDocument d;
    const OwnedHardware& machine = *line.machine;
    d.machine = machine.name;
    d.title = machine.title;
    d.accelerator = machine.gpu;
    d.count = static_cast<double>(line.cost.devices);
    d.capex = convert(catalog, {*machine.capex, machine.currency}, terms.currency).amount;
    d.fixed_per_month = line.cost.fixed_per_month;
    d.energy_per_hour = line.cost.per_hour;
    d.per_month = line.cost.per_month.total();
    for (const auto& term : line.cost.per_month.terms()) d.terms.emplace_back(std::string(term.id), term.value);
    if (line.rented.offer) {
      d.rented_offer = line.rented.offer->id;
      d.rented_provider = line.rented.provider->title;
      d.rented_per_hour = line.rented_per_hour;
      d.break_even_hours = line.hours;
    }
    d.wins = line.wins;
    d.source = catalog.source(machine.capex.source).text;
    into.owned.push_back(std::move(d));
  }
}

}  // namespace

void add_alternatives(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate,
                      const AlternativesRequest& asked, EstimateDocument& d) {
  if (estimate.options.empty()) return;
  TokenComparison work = comparison(request, estimate.request, false);
  for (const Option& option : estimate.options) {
    const double a_second = option.output_tokens_per_s() / work.request.output;
    const double hours_on = request.duty ? request.duty->hours_per_month() : option.hours_per_month;
    work.rented.push_back({std::string(option.offer->id), option.per_month, a_second * 3600 * hours_on});
  }
  work.requests = work.rented.front().requests;
  d.alternatives.period = "month";
  d.alternatives.rented_cost = estimate.options.front().per_month;
  describe_token_apis(catalog, estimate.identity.name, work, asked, d.alternatives);
  if (asked.owned) describe_owned(catalog, request, estimate.options, *asked.owned, d.alternatives);
}

void add_alternatives(const Catalog& catalog, const EstimateRequest& request, const BatchEstimate& estimate,
                      const AlternativesRequest& asked, EstimateDocument& d) {
  if (estimate.options.empty()) return;
  TokenComparison work = comparison(request, estimate.fit.request, true);
  work.requests = estimate.load.requests;
  // The least that is billed of an option, and what it does in that time.
  for (const BatchOption& option : estimate.options) {
    const auto bill = job_cost(
        catalog, job_on({option.provider, option.offer, option.instances, request.currency, request.vat}, seconds(1)),
        nullptr);
    if (!bill) continue;
    const double a_second = option.output_tokens_per_s() / work.request.output;
    work.rented.push_back({std::string(option.offer->id), bill->p50(), a_second * (bill->billed / seconds(1))});
  }
  d.alternatives.period = "job";
  d.alternatives.rented_cost = estimate.options.front().cost.p50();
  describe_token_apis(catalog, estimate.fit.identity.name, work, asked, d.alternatives);
  if (!asked.owned) return;
  const std::vector<Option> options(estimate.options.begin(), estimate.options.end());
  describe_owned(catalog, request, options, *asked.owned, d.alternatives);
}

}  // namespace gpuplan
