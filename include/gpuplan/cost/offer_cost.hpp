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

enum class VatHandling : std::uint8_t { exclude, include };

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
