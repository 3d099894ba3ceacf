#pragma once
// Joins evaluated hardware to offers, and ranks.

#include "hardware.hpp"

namespace gpuplan {

std::vector<Option> plan_offers(const Catalog& catalog, const EstimateRequest& request, const ServingJob& job,
                                const Ceilings& ceilings, HardwareTable& table, std::vector<RejectedOffer>& rejected);

// Orders options, marks the Pareto front of monthly cost and request latency, and says what dominates the others.
void rank_options(std::vector<Option>& options, SortBy sort);

}  // namespace gpuplan
