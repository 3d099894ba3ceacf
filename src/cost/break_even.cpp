#include <gpuplan/cost/break_even.hpp>

#include <gpuplan/catalog/offer_class.hpp>

#include <cmath>

namespace gpuplan {
namespace {

bool is_hourly(const Offer& offer) {
  const bool paid_by_use = offer.contract == Contract::on_demand || offer.contract == Contract::cluster ||
                           offer.contract == Contract::managed;
  return paid_by_use && offer.unit != PriceUnit::month && !offer.minimum_term.known();
}

}  // namespace

std::optional<double> break_even_utilization(const UtilizationInputs& in, Explain* why) {
  if (in.per_hour <= 0 || in.hours_per_month <= 0) return std::nullopt;
  const double share = in.committed_per_month / (in.per_hour * in.hours_per_month);
  if (why) {
    why->term("break_even.utilization", share, "committed_per_month / (per_hour * hours_per_month)",
              {{"committed_per_month", in.committed_per_month},
               {"per_hour", in.per_hour},
               {"hours_per_month", in.hours_per_month}});
  }
  return share;
}

std::vector<UtilizationPoint> utilization_curve(const UtilizationInputs& in, std::int64_t steps) {
  GPUPLAN_ASSERT(steps >= 1, "a curve has points");
  std::vector<UtilizationPoint> curve;
  for (std::int64_t i = 0; i <= steps; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(steps);
    curve.push_back({share, in.committed_per_month, share * in.per_hour * in.hours_per_month});
  }
  return curve;
}

HourlyAlternative cheapest_hourly(const Catalog& catalog, const Provider& provider, const Offer& offer,
                                  std::string_view currency, VatHandling vat) {
  HourlyAlternative best;
  const Accelerator* accelerator = catalog.find_accelerator(offer.gpu);
  if (!accelerator) return best;
  const OfferClass wanted = offer_class(*accelerator, provider, offer);
  for (const Provider& other : catalog.providers()) {
    for (const Offer& candidate : other.offers) {
      if (!candidate.rankable || !is_hourly(candidate)) continue;
      if (catalog.find_accelerator(candidate.gpu) != accelerator) continue;
      if (!(offer_class(*accelerator, other, candidate) == wanted)) continue;
      const auto hourly = hourly_cost(catalog, {&other, &candidate, 1, currency, vat}, nullptr);
      if (!hourly) continue;
      const double per_gpu = hourly->total() / static_cast<double>(*candidate.count);
      if (!best.offer || per_gpu < best.per_gpu_hour) best = {&other, &candidate, per_gpu};
    }
  }
  return best;
}

}  // namespace gpuplan
