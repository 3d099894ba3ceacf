#include <gpuplan/planner/duty.hpp>

#include <gpuplan/cost/job_cost.hpp>

#include <algorithm>
#include <string>

namespace gpuplan {
namespace {

bool cannot_be_stopped(const Offer& offer) {
  return offer.unit == PriceUnit::month || offer.contract == Contract::dedicated ||
         offer.contract == Contract::reserved || offer.contract == Contract::owned;
}

// Without a price of storage, zero.
double storage_per_month(const Catalog& catalog, const EstimateRequest& request, const Provider& provider, Bytes size) {
  double least = 0;
  for (const StoragePrice& price : provider.storage) {
    if (price.unit != "gb_month" || !price.price.known() || price.currency.empty()) continue;
    if (price.kind == StorageKind::unknown || price.kind == StorageKind::object) continue;  // not a machine's disk
    const double vat = price.vat == Vat::included ? provider.vat_percent.or_else(0) / 100 : 0;
    const double listed = convert(catalog, {*price.price / (1 + vat), price.currency}, request.currency).amount;
    const double billed = std::max(0.0, (size - price.free.or_else({})) / gigabytes(1));
    const double cost = billed * listed * (1 + added_vat_share(request.vat, provider));
    if (cost > 0 && (least <= 0 || cost < least)) least = cost;
  }
  return least;
}

}  // namespace

std::string_view to_string(OffBilling value) {
  switch (value) {
    case OffBilling::nothing:
      return "nothing";
    case OffBilling::unknown:
      return "unknown";
    case OffBilling::storage:
      return "storage";
    case OffBilling::storage_unpriced:
      return "storage_unpriced";
    case OffBilling::all:
      return "all";
  }
  return "unknown";
}

DutyCost duty_cost(const Catalog& catalog, const EstimateRequest& request, const Duty& duty, const Provider& provider,
                   const Offer& offer, Bytes weights) {
  DutyCost cost;
  const double month = hours_per_month(provider);
  const OffState state = provider.terms.empty() ? OffState::unknown : provider.terms.front().off_state;
  cost.billed_hours = month;
  if (duty.is_always()) return cost;
  if (cannot_be_stopped(offer) || state == OffState::all) {
    cost.off = OffBilling::all;
    return cost;
  }
  Seconds week;
  for (const Seconds window : duty.windows) week += billed_time(provider, offer, window).time;
  // The provider's month may have 720 hours or 744: the same share of it.
  cost.billed_hours = std::min(month, week / hours(1) * kWeeksPerMonth * month / kHoursPerMonth);
  if (state == OffState::unknown) cost.off = OffBilling::unknown;
  if (state != OffState::storage) return cost;
  const double share_off = 1 - cost.billed_hours / month;
  cost.storage_per_month = storage_per_month(catalog, request, provider, weights) * share_off;
  cost.off = cost.storage_per_month > 0 ? OffBilling::storage : OffBilling::storage_unpriced;
  return cost;
}

void apply_duty(const Catalog& catalog, const EstimateRequest& request, Bytes weights, std::vector<Option>& options) {
  if (!request.duty) return;
  for (Option& option : options) {
    const DutyCost cost = duty_cost(catalog, request, *request.duty, *option.provider, *option.offer,
                                    weights * static_cast<double>(option.hosts));
    option.hours_per_month = cost.billed_hours;
    option.per_month = option.per_hour * cost.billed_hours + cost.storage_per_month;
    if (cost.storage_per_month > 0) option.hourly.add("storage", cost.storage_per_month / cost.billed_hours);
  }
}

void warn_of_duty(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate,
                  std::vector<Warning>& warnings) {
  if (!request.duty || estimate.options.empty()) return;
  const Option& best = estimate.options.front();
  const DutyCost cost =
      duty_cost(catalog, request, *request.duty, *best.provider, *best.offer, weights_of(estimate.model));
  const std::string name(best.provider->title);
  if (cost.off == OffBilling::unknown) {
    warnings.push_back({"duty.off_state", "what " + name +
                                              " bills while a machine is off is unknown: the first option's " +
                                              "month is that of one that is deleted and made again"});
  }
  if (cost.off == OffBilling::storage_unpriced)
    warnings.push_back({"duty.storage", name + " bills the disk while a machine is off, at a price that is unknown"});
}

}  // namespace gpuplan
