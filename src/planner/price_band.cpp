#include <gpuplan/planner/price_band.hpp>

#include <gpuplan/base/text.hpp>
#include <gpuplan/catalog/offer_class.hpp>
#include <gpuplan/cost/offer_cost.hpp>

#include <utility>
#include <vector>

namespace gpuplan {
namespace {

std::optional<double> per_device_hour(const Catalog& catalog, const Provider& provider, const Offer& offer) {
  if (!offer.count.known() || *offer.count < 1) return std::nullopt;
  const auto hourly = hourly_cost(catalog, {&provider, &offer, 1, "USD", {}}, nullptr);
  if (!hourly) return std::nullopt;
  return hourly->total() / static_cast<double>(*offer.count);
}

}  // namespace

std::optional<std::string> far_below_class(const Catalog& catalog, const Provider& provider, const Offer& offer) {
  const auto own = per_device_hour(catalog, provider, offer);
  if (!own) return std::nullopt;
  std::vector<double> prices;
  for (const Provider& other : catalog.providers()) {
    for (const Offer& o : other.offers) {
      if (!o.rankable || o.gpu != offer.gpu || o.contract != offer.contract) continue;
      if (const auto price = per_device_hour(catalog, other, o)) prices.push_back(*price);
    }
  }
  const std::size_t count = prices.size();
  const auto median = class_median(std::move(prices));
  if (!median || *own * kPriceBand >= *median) return std::nullopt;
  return format_significant(*own, 3) + " USD a GPU and hour, the median of " + std::to_string(count) + " " +
         std::string(to_string(offer.contract)) + " offers of " + std::string(offer.gpu) + " is " +
         format_significant(*median, 3);
}

}  // namespace gpuplan
