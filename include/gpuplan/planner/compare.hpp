#pragma once
/// Chosen offers side by side: each name is an offer's id, a provider or an accelerator.
///
///     compare_offers(catalog, request, {"a-provider", "an-accelerator", "an/offer"})
///
/// A provider stands for its cheapest offer of the accelerators and the number that the request asks for, an accelerator for the
/// cheapest offer of it. Where the request names no contract, hours on demand go before all, then dedicated servers, clusters,
/// managed and serverless ones, terms that are paid ahead, and spot last: what is compared is the same kind of thing.

#include <gpuplan/cost/offer_cost.hpp>
#include <gpuplan/planner/estimate.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

struct ComparedOffer {
  std::string name;  ///< as asked
  const Provider* provider = nullptr;
  const Offer* offer = nullptr;  ///< null: there is none; `why_not` says why
  const Accelerator* accelerator = nullptr;
  std::string why_not;
  std::int64_t instances = 1;
  std::int64_t devices = 0;
  Breakdown<double> hourly;      ///< money an hour of all devices
  std::optional<Option> option;  ///< with a model: how it runs there
  std::optional<Rejection> rejection;
};

/// Throws InputError with every unknown name. With a model in the request each is planned for it.
std::vector<ComparedOffer> compare_offers(const Catalog& catalog, const EstimateRequest& request,
                                          const std::vector<std::string>& names);

}  // namespace gpuplan
