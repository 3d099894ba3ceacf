#pragma once
/// Machines that are bought, among those that are rented: as offers of the contract `owned`, and the hours of work a month from which owning
/// one is cheaper than renting the same.
///
/// An owned offer's hour is that of a machine which works all month: what it costs to have it, spread over 730 hours, and the energy of an
/// hour (docs/PHYSICS.md, "Break-even"). What is not used is not cheaper to have: below the hours given renting wins.

#include <gpuplan/cost/break_even.hpp>
#include <gpuplan/planner/estimate.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gpuplan {

/// What is known better than by the catalogue. Money in `currency`.
struct OwnedTerms {
  std::string country;  ///< two letters: its price of electricity and the usual PUE
  std::string_view currency = "USD";
  std::optional<double> power_price;  ///< of a kWh
  std::optional<double> pue;
  std::optional<double> staff_per_year;
  std::optional<double> lifetime_years;
  double capital_percent = 0;
};

/// An offer for each machine whose price, lifetime and accelerator are known.
std::vector<AddedOffer> owned_offers(const Catalog& catalog, const OwnedTerms& terms);

struct OwnedBreakEven {
  const OwnedHardware* machine = nullptr;
  OwnedCost cost;
  HourlyAlternative rented;     ///< the cheapest by the hour of the same accelerator and class
  double rented_per_hour = 0;   ///< of as many devices
  std::optional<double> hours;  ///< a month from which owning wins; empty: never
  bool wins = false;            ///< within a month
};
/// For each machine that an option of the estimate runs on, in the order of the options.
std::vector<OwnedBreakEven> owned_break_even(const Catalog& catalog, const EstimateRequest& request,
                                             const std::vector<Option>& options, const OwnedTerms& terms);

}  // namespace gpuplan
