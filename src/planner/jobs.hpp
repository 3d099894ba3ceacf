#pragma once
// What all estimates share: how an option's offer is used, and what is to be told of the first option.

#include <gpuplan/base/text.hpp>
#include <gpuplan/cost/job_cost.hpp>
#include <gpuplan/planner/estimate.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

// Until a replaced host has started, beside reading what it goes on from: an assumption, for no source at hand says it.
inline constexpr Seconds kRestart = minutes(10);

// Of one spot instance, by the offer or its provider; zero: unknown.
double interruptions_per_month(const Provider& provider, const Offer& offer);

template <class Planned>
CostInputs use_of(const EstimateRequest& request, const Planned& option) {
  return {option.provider, option.offer, option.instances, request.currency, request.vat};
}

void warn_of_price(const Offer& offer, const std::optional<std::int64_t>& age_days, std::vector<Warning>& warnings);
void warn_of_verdict(FitVerdict verdict, std::vector<Warning>& warnings);

// Of a job that ends.
template <class Planned>
void warn_of_job(const Planned& best, const std::optional<Seconds>& deadline, std::vector<Warning>& warnings) {
  if (best.interruptions_unknown) {
    warnings.push_back(
        {"spot.unknown_rate",
         "how often the first option's instances are interrupted is unknown: its time and cost are without"});
  }
  if (deadline && best.total.high > *deadline) {
    warnings.push_back({"deadline.tight", "the first option may take up to " + format_seconds(best.total.high) +
                                              " by its interval, beyond the deadline of " + format_seconds(*deadline)});
  }
  if (best.count_is_assumed) {
    warnings.push_back({"count.assumed", "the price of the first option is of one device; that " +
                                             std::to_string(best.devices) +
                                             " are to be had as servers at that price is assumed"});
  }
}

}  // namespace gpuplan
