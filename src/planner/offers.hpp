#pragma once
// Joins evaluated hardware to offers, and ranks.

#include "hardware.hpp"
#include "replica_load.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace gpuplan {

// How the devices of an offer come: in instances of a fixed number, or one by one up to a host.
struct Supply {
  std::int64_t per_instance = 1;
  std::int64_t per_host = 1;
};

Supply supply_of(const Offer& offer, std::int64_t devices_per_host);

// What the user filtered away is neither an option nor a rejection.
bool asked_for(const EstimateRequest& request, const Provider& provider, const Offer& offer);

// Of the price; null when its day is not known or after the day asked about.
std::optional<std::int64_t> age_in_days(const Catalog& catalog, const Offer& offer, const Date& as_of);

// Why the rules of the request leave the offer out: the age of its price, the software it has to run.
std::optional<Rejection> refused_by_rules(const Catalog& catalog, const EstimateRequest& request,
                                          const Provider& provider, const Offer& offer, const Accelerator& accelerator);

// Replicas of so many devices that one instance holds; a replica that fits in a host does not straddle two.
std::int64_t replicas_in_instance(const Supply& supply, std::int64_t replica);

// What offers are planned with.
struct Planning {
  const ServingJob& job;
  const Ceilings& ceilings;
  HardwareTable& table;
  LoadPlanner& loads;
};
// For each offer that carries the demand every layout which does so with the fewest instances, priced by the hour and not yet timed.
std::vector<std::vector<Option>> offer_layouts(const Catalog& catalog, const EstimateRequest& request,
                                               const Planning& planning, std::vector<RejectedOffer>& rejected);

std::vector<Option> plan_offers(const Catalog& catalog, const EstimateRequest& request, const Planning& planning,
                                std::vector<RejectedOffer>& rejected);

// Orders options by cost or time, marks the Pareto front of both, and says what dominates the others.
template <class Planned, class Cost, class Time>
void rank_by(std::vector<Planned>& options, SortBy sort, Cost cost, Time time) {
  std::sort(options.begin(), options.end(), [&](const Planned& a, const Planned& b) {
    return std::tuple(cost(a), time(a), a.offer->id) < std::tuple(cost(b), time(b), b.offer->id);
  });
  // Walking from cheap to dear, an option is on the front when it is faster than all before it.
  const Planned* fastest = nullptr;
  std::map<Text, Text> dominated_by;
  for (Planned& option : options) {
    option.on_pareto_front = !fastest || time(option) < time(*fastest);
    if (option.on_pareto_front) {
      fastest = &option;
    } else {
      dominated_by.emplace(option.offer->id, fastest->offer->id);
    }
  }
  if (sort == SortBy::time) {
    std::sort(options.begin(), options.end(), [&](const Planned& a, const Planned& b) {
      return std::tuple(time(a), cost(a), a.offer->id) < std::tuple(time(b), cost(b), b.offer->id);
    });
  } else if (sort == SortBy::pareto) {
    std::stable_partition(options.begin(), options.end(), [](const Planned& o) { return o.on_pareto_front; });
  }
  std::map<Text, std::int64_t> rank;
  for (std::size_t i = 0; i < options.size(); ++i) rank.emplace(options[i].offer->id, static_cast<std::int64_t>(i) + 1);
  for (Planned& option : options) {
    const auto found = dominated_by.find(option.offer->id);
    option.dominated_by = found == dominated_by.end() ? 0 : rank.at(found->second);
  }
}

// By the month and the latency of a request.
void rank_options(std::vector<Option>& options, SortBy sort);

}  // namespace gpuplan
