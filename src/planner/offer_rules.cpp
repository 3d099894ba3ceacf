#include <gpuplan/planner/offer_rules.hpp>

#include <gpuplan/catalog/software.hpp>

namespace gpuplan {
namespace {

std::optional<Rejection> refused_by_age(const Catalog& catalog, const OfferRules& rules, const Offer& offer) {
  if (!rules.max_age_days) return std::nullopt;
  const auto age = price_age_days(catalog, offer, rules.as_of);
  if (age && *age <= *rules.max_age_days) return std::nullopt;
  return Rejection{"price_age", "a price of at most " + std::to_string(*rules.max_age_days) + " days",
                   age ? std::to_string(*age) + " days" : "no known day",
                   age ? "--max-age " + std::to_string(*age) + "d" : "a newer price: 'gpuplan prices import'"};
}

}  // namespace

std::optional<std::int64_t> price_age_days(const Catalog& catalog, const Offer& offer, const Date& as_of) {
  const auto date = parse_date(catalog.source(offer.price.source).observed_on);
  if (!date.value) return std::nullopt;
  const std::int64_t age = days_between(*date.value, as_of);
  if (age < 0) return std::nullopt;  // read after the day asked about
  return age;
}

std::optional<Rejection> refused_by_rules(const Catalog& catalog, const OfferRules& rules, const Provider& provider,
                                          const Offer& offer, const Accelerator& accelerator) {
  if (auto rejection = refused_by_age(catalog, rules, offer)) return rejection;
  if (!rules.software) return std::nullopt;
  const FrameworkFit fit = framework_fit(catalog, *rules.software, accelerator, provider, offer);
  if (fit.answer != FrameworkFit::Answer::no) return std::nullopt;
  return Rejection{"software", std::string(rules.software->framework) + " " + std::string(rules.software->version),
                   fit.why, "another release, or another accelerator"};
}

}  // namespace gpuplan
