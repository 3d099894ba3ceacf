#pragma once
/// What an offer costs by the hour and by the month, term by term: `compute`, `host_cpu`, `host_ram`, `host_disk`, `tax`.
///
/// A month is the provider's own number of hours, else 730. Prices are compared without VAT unless asked otherwise: VAT in a
/// price is taken out at the provider's rate; a price that does not say is taken to be without. Nothing is rounded.

#include <gpuplan/base/breakdown.hpp>
#include <gpuplan/base/explain.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/cost/money.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuplan {

inline constexpr double kHoursPerMonth = 730;  ///< 365 * 24 / 12

/// How prices are compared: without VAT, with each provider's own, or with one rate on every net price.
struct VatHandling {
  bool adds = false;
  std::optional<double> percent;  ///< instead of the provider's own

  static const VatHandling exclude, include;
  static VatHandling at(double percent) { return {true, percent}; }
};
inline const VatHandling VatHandling::exclude{false, std::nullopt};
inline const VatHandling VatHandling::include{true, std::nullopt};

/// VAT to add over a net price, 0 when none is asked for or the provider's rate is unknown.
double added_vat_share(VatHandling vat, const Provider& provider);

struct CostInputs {
  const Provider* provider = nullptr;
  const Offer* offer = nullptr;
  std::int64_t instances = 1;  ///< of the smallest quantity sold together
  std::string_view currency;   ///< to answer in
  VatHandling vat = VatHandling::exclude;
};

/// Terms of one hour, in `currency`; they add up. Null when the price is unknown.
std::optional<Breakdown<double>> hourly_cost(const Catalog& catalog, const CostInputs& in, Explain* why);

/// Hours that the provider bills as a month.
double hours_per_month(const Provider& provider);

}  // namespace gpuplan
