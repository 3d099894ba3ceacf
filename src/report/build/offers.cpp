#include "parts.hpp"

#include <gpuplan/planner/price_band.hpp>

#include <algorithm>

namespace gpuplan {

void describe_offer(const Catalog& catalog, const Provider& provider, const Offer& offer,
                    std::optional<std::int64_t> price_age_days, OptionDocument& d) {
  d.provider = provider.name;
  d.provider_title = provider.title;
  d.offer = offer.id;
  d.contract = to_string(offer.contract);
  if (offer.term_months.known()) d.term_months = *offer.term_months;
  d.region = offer.region;
  d.country = offer.country;
  d.provider_country = provider.country;
  const Source& source = catalog.source(offer.price.source);
  d.price_observed_on = source.observed_on;
  d.price_source = source.text;
  d.price_confidence = to_string(offer.confidence);
  if (price_age_days) d.price_age_days = static_cast<double>(*price_age_days);
  d.vat = to_string(offer.vat);
  if (provider.vat_percent.known()) d.vat_percent = *provider.vat_percent;
}

FilterDocument filters_of(const EstimateRequest& request) {
  FilterDocument filters;
  for (const Accelerator* gpu : request.accelerators) filters.gpus.emplace_back(gpu->name);
  for (const Provider* provider : request.providers) filters.providers.emplace_back(provider->name);
  for (const Contract contract : request.contracts) filters.contracts.emplace_back(to_string(contract));
  if (request.count) filters.count = static_cast<double>(*request.count);
  filters.region = request.region;
  filters.country = request.country;
  return filters;
}

namespace {

// The rates between the currencies of the options' prices and that of the answer; none when all are the same.
std::vector<RateDocument> rates_of(const Catalog& catalog, std::string_view answer, std::set<std::string_view> used) {
  if (!used.empty()) used.insert(answer);
  std::vector<RateDocument> rates;
  if (used.size() < 2) return rates;
  for (const std::string_view code : used) {
    const CurrencyRate& rate = *catalog.find_currency(code);
    const Source& source = catalog.source(rate.per_usd.source);
    if (*rate.per_usd != 1)
      rates.push_back({std::string(code), *rate.per_usd, std::string(source.observed_on), std::string(source.text)});
  }
  return rates;
}

// Days of the oldest and the newest price of the options.
void stamp_prices(EstimateDocument& d) {
  for (const OptionDocument& option : d.options) {
    const std::string& day = option.price_observed_on;
    if (day.empty()) continue;
    if (d.catalog.oldest_price.empty() || day < d.catalog.oldest_price) d.catalog.oldest_price = day;
    if (day > d.catalog.newest_price) d.catalog.newest_price = day;
  }
}

// A first option that is first by a price far below its class.
void add_outlier(const Catalog& catalog, EstimateDocument& d) {
  if (d.options.empty()) return;
  const OptionDocument& best = d.options.front();
  const Provider* provider = catalog.find_provider(best.provider);
  if (!provider) return;
  const auto offer = std::find_if(provider->offers.begin(), provider->offers.end(),
                                  [&](const Offer& o) { return o.id == best.offer; });
  if (offer == provider->offers.end()) return;
  if (auto finding = far_below_class(catalog, *provider, *offer))
    d.warnings.push_back({"price.far_from_class", "the price of the first option is doubtful: " + *finding});
}

}  // namespace

void describe_market(const Catalog& catalog, const EstimateRequest& request, std::set<std::string_view> currencies,
                     const std::vector<RejectedOffer>& rejected, const std::vector<Warning>& warnings,
                     EstimateDocument& d) {
  d.catalog = stamp_of(catalog);
  stamp_prices(d);
  d.currency = request.currency;
  d.vat = request.vat.adds ? "included" : "excluded";
  d.rates = rates_of(catalog, request.currency, std::move(currencies));
  d.filters = filters_of(request);
  d.as_of = to_string(request.as_of);
  d.sort = to_string(request.sort);
  for (const RejectedOffer& offer : rejected) {
    d.rejected.push_back({std::string(offer.offer->provider), std::string(offer.offer->id), offer.rejection.rule,
                          offer.rejection.needed, offer.rejection.available, offer.rejection.smallest_change});
  }
  add_outlier(catalog, d);
  for (const Warning& warning : warnings) d.warnings.push_back({warning.id, warning.message});
}

}  // namespace gpuplan
