#include "offers.hpp"

#include "jobs.hpp"

#include "serving_timer.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/planner/offer_rules.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace gpuplan {
namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class OfferPlanner {
 public:
  OfferPlanner(const Catalog& catalog, const EstimateRequest& request, const Planning& planning)
      : catalog_(catalog), request_(request), table_(planning.table), loads_(planning.loads) {}

  // Every layout of an offer that carries the demand with the fewest instances; or why there is none.
  std::vector<Option> layouts_of(const Provider& provider, const Offer& offer, const Accelerator& accelerator,
                                 std::optional<Rejection>& rejection) {
    std::vector<Option> options;
    const Supply supply = supply_of(offer, table_.devices_per_host(accelerator));
    auto fits = table_.layouts_inside(accelerator, supply.per_host);
    if (fits.empty()) fits = layouts_over_hosts(offer, accelerator, supply);
    std::int64_t fewest = 0;
    std::optional<ReplicaLimit> slow;  // the one that is nearest to holding the targets
    std::vector<Replica> replicas;
    for (const LayoutFit& fit : fits) {
      const Replica& one = replicas.emplace_back(replica_of(fit, offer, accelerator, supply));
      const ReplicaLimit limit = loads_.limit(one);
      if (!limit.rejection) continue;
      if (!slow || limit.miss < slow->miss) slow = limit;
      replicas.pop_back();
    }
    if (replicas.empty() && slow) {
      rejection = slow->rejection;
      return options;
    }
    for (const Replica& replica : replicas) {
      Option option;
      option.provider = &provider;
      option.offer = &offer;
      option.accelerator = &accelerator;
      option.max_concurrency = replica.slots;
      option.fabric = replica.fabric;
      if (!lay_out(replica, supply, option)) continue;
      if (options.empty() || option.instances < fewest) {
        options.clear();
        fewest = option.instances;
      }
      if (option.instances > fewest) continue;
      options.push_back(std::move(option));
    }
    if (options.empty()) rejection = why_none(replicas, accelerator, supply);
    return options;
  }

 private:
  Replica replica_of(const LayoutFit& fit, const Offer& offer, const Accelerator& accelerator, const Supply& supply) {
    const BytesPerSecond network = network_of(offer, accelerator);
    const auto [entry, fresh] = fabrics_.try_emplace({&accelerator, offer.interconnect, network.base(), fit.layout.tp});
    if (fresh) entry->second = fabric_of(catalog_, accelerator, offer.interconnect, network, fit.layout.tp);
    Fabric fabric = entry->second;
    // Stages in one host pass their activations over what joins its devices.
    if (fit.layout.devices_per_replica() <= supply.per_host) fabric.between = fabric.inside;
    return {&accelerator, fabric, fit.layout, fit.max_concurrency};
  }

  std::vector<LayoutFit> layouts_over_hosts(const Offer& offer, const Accelerator& accelerator, const Supply& supply) {
    if (network_of(offer, accelerator) <= BytesPerSecond{}) return {};
    return table_.layouts_across(accelerator, supply.per_host);
  }

  // What leaves a host: as the offer says; of a cluster that does not say, as in the node designs with its accelerator.
  BytesPerSecond network_of(const Offer& offer, const Accelerator& accelerator) const {
    if (offer.network.known() || offer.contract != Contract::cluster) return offer.network.or_else({});
    BytesPerSecond least;
    for (const NodeDesign& node : catalog_.nodes()) {
      const bool holds =
          std::find(node.accelerators.begin(), node.accelerators.end(), accelerator.name) != node.accelerators.end();
      if (!holds || !node.node_rate.known() || *node.node_rate <= BytesPerSecond{}) continue;
      if (least <= BytesPerSecond{} || *node.node_rate < least) least = *node.node_rate;
    }
    return least;
  }

  // Fills in replicas, instances and devices; false when --count forbids it.
  bool lay_out(const Replica& one, const Supply& supply, Option& option) const {
    const std::int64_t replica = one.layout.devices_per_replica();
    const ReplicaLimit limit = loads_.limit(one);
    std::int64_t replicas = loads_.replicas(limit);
    option.carried.replicas_needed = replicas - loads_.spare();
    std::int64_t instances = 0;
    if (request_.count) {
      if (*request_.count % supply.per_instance != 0) return false;
      instances = *request_.count / supply.per_instance;
    } else if (replica <= supply.per_instance) {
      instances = divide_up(replicas, replicas_in_instance(supply, replica));
    } else {
      instances = replicas * divide_up(replica, supply.per_instance);
    }
    const std::int64_t devices = instances * supply.per_instance;
    const std::int64_t held =
        replica <= supply.per_instance ? instances * replicas_in_instance(supply, replica) : devices / replica;
    if (held < replicas) return false;
    replicas = held;  // idle devices of a rented instance serve too
    option.layout = one.layout;
    option.layout.dp = replicas;
    option.instances = instances;
    option.devices = devices;
    option.hosts = divide_up(devices, supply.per_host);
    option.hosts_per_replica = divide_up(replica, supply.per_host);
    option.count_is_assumed = supply.per_host > supply.per_instance && devices > supply.per_instance;
    carry(one, limit, option);
    return true;
  }

  void carry(const Replica& one, const ReplicaLimit& limit, Option& option) const {
    CarriedLoad& carried = option.carried;
    carried.spare = loads_.spare();
    carried.limit = limit.load;
    carried.bound = limit.bound;
    const ReplicaLoad asked = loads_.load_of(one, option.working());
    option.demand = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(asked.running)));
    carried.at = loads_.shows_limit() ? limit.load : asked;
    option.load = carried.at.running;
  }

  // Layouts exist, so the asked number of devices stands against them all.
  Rejection why_not_that_count(const std::vector<Replica>& replicas, const Supply& supply) const {
    const std::int64_t count = request_.count.value_or(0);
    if (count % supply.per_instance != 0) {
      return {"count", "a multiple of " + format_whole(static_cast<double>(supply.per_instance)), std::to_string(count),
              "another --count"};
    }
    std::int64_t fewest = 0;
    for (const Replica& one : replicas) {
      const std::int64_t devices = loads_.replicas(loads_.limit(one)) * one.layout.devices_per_replica();
      fewest = fewest == 0 ? devices : std::min(fewest, devices);
    }
    return {"count", format_whole(static_cast<double>(fewest)) + " devices for " + loads_.demand_words(),
            std::to_string(count), "a larger --count, or a smaller " + std::string(loads_.demand_flag())};
  }

  Rejection why_none(const std::vector<Replica>& replicas, const Accelerator& accelerator, const Supply& supply) {
    if (!replicas.empty()) return why_not_that_count(replicas, supply);
    std::int64_t tp = 1;
    while (tp * 2 <= supply.per_host) tp *= 2;
    const InferenceMemory& memory = table_.footprint(accelerator, {tp, 1, 1}, 1);
    return {"memory", format_binary_bytes(memory.terms.total()) + " a device over " + std::to_string(tp),
            format_binary_bytes(memory.capacity), "more devices in one host, or a smaller --dtype or --context"};
  }

  const Catalog& catalog_;
  const EstimateRequest& request_;
  HardwareTable& table_;
  LoadPlanner& loads_;
  std::map<std::tuple<const Accelerator*, Text, double, std::int64_t>, Fabric> fabrics_;  // by link, network, devices
};

// What is known of a load once it is timed.
void finish_load(const LoadPlanner& loads, Option& option) {
  CarriedLoad& carried = option.carried;
  if (!loads.arrives()) carried.at.requests_per_second = carried.at.in_flight / option.at.e2e.value.base();
  loads.add_queue(carried.at, option.asked);
  loads.add_queue(carried.at, option.at);
  carried.slo = loads.nearest(option.at);
}

bool price(const Catalog& catalog, const EstimateRequest& request, Option& option) {
  const auto hourly = hourly_cost(catalog, use_of(request, option), nullptr);
  if (!hourly) return false;
  option.hourly = *hourly;
  option.per_hour = hourly->total();
  option.hours_per_month = hours_per_month(*option.provider);
  option.per_month = option.per_hour * option.hours_per_month;
  option.price_age_days = price_age_days(catalog, *option.offer, request.as_of);
  return true;
}

}  // namespace

bool asked_for(const EstimateRequest& request, const Provider& provider, const Offer& offer) {
  const auto any_of = [](const auto& list, const auto& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  if (!any_of(request.providers, &provider) || !any_of(request.contracts, offer.contract)) return false;
  if (!request.country.empty() && to_lower(offer.country) != to_lower(request.country)) return false;
  return request.region.empty() || to_lower(offer.region).find(to_lower(request.region)) != std::string::npos;
}

Supply supply_of(const Offer& offer, std::int64_t devices_per_host) {
  const std::int64_t sold = *offer.count;
  if (offer.scope == PriceScope::instance) return {sold, sold};
  const std::int64_t machine = std::min(offer.devices_per_machine.or_else(devices_per_host), devices_per_host);
  return {sold, sold > 1 ? std::min(sold, machine) : machine};  // a quantity may take several hosts
}

std::optional<std::int64_t> age_in_days(const Catalog& catalog, const Offer& offer, const Date& as_of) {
  return price_age_days(catalog, offer, as_of);
}

std::optional<Rejection> refused_by_rules(const Catalog& catalog, const EstimateRequest& request,
                                          const Provider& provider, const Offer& offer,
                                          const Accelerator& accelerator) {
  return refused_by_rules(catalog, OfferRules{request.as_of, request.max_age_days, request.software}, provider, offer,
                          accelerator);
}

std::int64_t replicas_in_instance(const Supply& supply, std::int64_t replica) {
  if (replica > supply.per_host) return supply.per_instance / replica;
  const std::int64_t full_hosts = supply.per_instance / supply.per_host;
  return full_hosts * (supply.per_host / replica) + supply.per_instance % supply.per_host / replica;
}

std::vector<std::vector<Option>> offer_layouts(const Catalog& catalog, const EstimateRequest& request,
                                               const Planning& planning, std::vector<RejectedOffer>& rejected) {
  HardwareTable& table = planning.table;
  OfferPlanner planner(catalog, request, planning);
  std::vector<std::vector<Option>> choices;
  for (const Provider& provider : catalog.providers()) {
    for (const Offer& offer : provider.offers) {
      if (!offer.rankable || !asked_for(request, provider, offer)) continue;
      const Accelerator* accelerator = catalog.find_accelerator(offer.gpu);
      if (!request.accelerators.empty() && std::find(request.accelerators.begin(), request.accelerators.end(),
                                                     accelerator) == request.accelerators.end()) {
        continue;
      }
      std::optional<Rejection> rejection = refused_by_rules(catalog, request, provider, offer, *accelerator);
      if (!rejection) rejection = table.rejection(*accelerator);
      std::vector<Option> layouts;
      if (!rejection) layouts = planner.layouts_of(provider, offer, *accelerator, rejection);
      std::erase_if(layouts, [&](Option& option) { return !price(catalog, request, option); });
      if (layouts.empty() && !rejection) rejection = Rejection{"price", "a price", "unknown", "ask the provider"};
      if (rejection) {
        rejected.push_back({&offer, *rejection});
      } else {
        choices.push_back(std::move(layouts));
      }
    }
  }
  return choices;
}

std::vector<Option> plan_offers(const Catalog& catalog, const EstimateRequest& request, const Planning& planning,
                                std::vector<RejectedOffer>& rejected) {
  LoadPlanner& loads = planning.loads;
  auto choices = offer_layouts(catalog, request, planning, rejected);
  ServingTimer timer(loads.arrives());
  std::vector<std::vector<std::array<std::size_t, 3>>> timed;  // alone, with the demand, at the load shown
  for (const auto& layouts : choices) {
    auto& pairs = timed.emplace_back();
    for (const Option& option : layouts) {
      const double asked = loads.arrives() ? option.load : static_cast<double>(option.demand);
      pairs.push_back({timer.add(option, 1), timer.add(option, asked), timer.add(option, option.load)});
    }
  }
  timer.run(planning.job, planning.ceilings);

  std::vector<Option> options;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (std::size_t j = 0; j < choices[i].size(); ++j) {
      choices[i][j].alone = timer.time(timed[i][j][0]);
      choices[i][j].asked = timer.time(timed[i][j][1]);
      choices[i][j].at = timer.time(timed[i][j][2]);
      finish_load(loads, choices[i][j]);
    }
    // All cost the same: the layout that gives the most tokens stands for the offer.
    auto best = std::max_element(choices[i].begin(), choices[i].end(), [&](const Option& a, const Option& b) {
      if (loads.arrives()) return a.at.e2e.value > b.at.e2e.value;  // all give what is asked for
      return a.output_tokens_per_s() < b.output_tokens_per_s();
    });
    best->memory = planning.table.footprint(*best->accelerator, best->layout, best->demand);
    best->per_1m_output_tokens = best->per_hour / (best->output_tokens_per_s() * 3600) * 1e6;
    options.push_back(std::move(*best));
  }
  return options;
}

void rank_options(std::vector<Option>& options, SortBy sort) {
  rank_by(
      options, sort, [](const Option& o) { return o.per_month; },
      [](const Option& o) { return o.asked.e2e.value.base(); });
}

}  // namespace gpuplan
