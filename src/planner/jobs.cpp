#include "jobs.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/planner/job_limits.hpp>

namespace gpuplan {

double interruptions_per_month(const Provider& provider, const Offer& offer) {
  const double own = offer.interruptions_per_month.or_else(0);
  if (own > 0 || provider.terms.empty()) return own;
  return provider.terms.front().interruptions_per_month.or_else(0);
}

std::optional<Rejection> beyond_limits(const JobLimits& limits, Seconds total, double cost, std::string_view currency) {
  if (limits.deadline && total > *limits.deadline)
    return Rejection{"deadline", format_seconds(total), format_seconds(*limits.deadline), "more devices"};
  if (limits.budget && cost > *limits.budget) {
    const std::string unit = " " + std::string(currency);
    return Rejection{"budget", format_significant(cost, 4) + unit, format_significant(*limits.budget, 4) + unit,
                     "a larger --budget, or a smaller job"};
  }
  return std::nullopt;
}

void warn_of_price(const Offer& offer, const std::optional<std::int64_t>& age_days, std::vector<Warning>& warnings) {
  constexpr std::int64_t kOldPriceDays = 90;  // price lists are revised by the quarter
  if (age_days && *age_days > kOldPriceDays)
    warnings.push_back({"price.old", "the price of the first option is " + std::to_string(*age_days) + " days old"});
  if (offer.confidence != Confidence::published) {
    warnings.push_back({"price.confidence", "the price of the first option is not from the provider's own page (" +
                                                std::string(to_string(offer.confidence)) + ")"});
  }
}

void warn_of_verdict(FitVerdict verdict, std::vector<Warning>& warnings) {
  if (verdict == FitVerdict::tight)
    warnings.push_back({"memory.tight", "the first option fits only if no overhead is above its estimate"});
}

}  // namespace gpuplan
