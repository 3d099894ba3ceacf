#pragma once
/// What keeps an offer out before anything is computed: the age of its price, the software it has to run.

#include <gpuplan/base/parse.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/deploy/deployment.hpp>

#include <cstdint>
#include <optional>

namespace gpuplan {

struct OfferRules {
  Date as_of;
  std::optional<std::int64_t> max_age_days;    ///< of a price; one without a day is too old
  const FrameworkRelease* software = nullptr;  ///< that has to run
};

/// Days from the one on which the price was read; empty when that is not known, or after `as_of`.
std::optional<std::int64_t> price_age_days(const Catalog& catalog, const Offer& offer, const Date& as_of);

/// Why the offer is left out: rule `price_age` or `software`. What is not known of software speaks for the offer.
std::optional<Rejection> refused_by_rules(const Catalog& catalog, const OfferRules& rules, const Provider& provider,
                                          const Offer& offer, const Accelerator& accelerator);

}  // namespace gpuplan
