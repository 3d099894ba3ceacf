#pragma once
// Joins evaluated hardware to offers, and ranks.

#include "hardware.hpp"

namespace gpuplan {

// How the devices of an offer come: in instances of a fixed number, or one by one up to a host.
struct Supply {
  std::int64_t per_instance = 1;
  std::int64_t per_host = 1;
};

// Replicas of so many devices that one instance holds; a replica that fits in a host does not straddle two.
std::int64_t replicas_in_instance(const Supply& supply, std::int64_t replica);

std::vector<Option> plan_offers(const Catalog& catalog, const EstimateRequest& request, const ServingJob& job,
                                const Ceilings& ceilings, HardwareTable& table, std::vector<RejectedOffer>& rejected);

// Orders options, marks the Pareto front of monthly cost and request latency, and says what dominates the others.
void rank_options(std::vector<Option>& options, SortBy sort);

}  // namespace gpuplan
