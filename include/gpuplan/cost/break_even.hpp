#pragma once
/// Where one way to pay becomes cheaper than another: a rented month against hours, hardware that is bought, tokens by the
/// million, seconds of a serverless GPU. Every answer is a number with its direction; "never" is an empty optional.
///
///     break_even_utilization({.committed_per_month = 900, .per_hour = 2, .hours_per_month = 730})   // 0.616
///
/// Amounts are in one currency, both with or both without VAT. docs/PHYSICS.md, "Break-even".

#include <gpuplan/base/explain.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/cost/offer_cost.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gpuplan {

struct UtilizationInputs {
  double committed_per_month = 0;  ///< whatever is used; a set-up fee spread over the months it is kept for
  double per_hour = 0;             ///< of the same hardware by the hour, only while it is used
  double hours_per_month = kHoursPerMonth;
};
struct UtilizationPoint {
  double utilization = 0;  ///< share of the month in use
  double committed = 0;    ///< a month
  double hourly = 0;
};
/// Share of the month in use from which the commitment is cheaper; above 1 it never is. Empty without an hourly price.
std::optional<double> break_even_utilization(const UtilizationInputs& in, Explain* why);
/// Both costs at 0, 1/steps, … 1.
std::vector<UtilizationPoint> utilization_curve(const UtilizationInputs& in, std::int64_t steps);

/// A commitment (dedicated, reserved) and what it is compared with.
struct HourlyAlternative {
  const Provider* provider = nullptr;
  const Offer* offer = nullptr;
  double per_gpu_hour = 0;
};
/// The cheapest offer by the hour (on demand; spot only when asked) of the same accelerator and the same class as `offer`, that is
/// rankable. Null offer when there is none.
HourlyAlternative cheapest_hourly(const Catalog& catalog, const Provider& provider, const Offer& offer,
                                  std::string_view currency, VatHandling vat);

struct OwnedInputs {
  const OwnedHardware* hardware = nullptr;
  const EnergyMix* energy = nullptr;  ///< of where it stands
  std::string_view currency = "USD";
  double capital_percent = 0;         ///< interest a year on half of price and residual, as money is bound on average
  double share_of_tdp = 1;            ///< of the machine's power while it works
  std::optional<double> power_price;  ///< a kWh in `currency`, instead of the country's
  std::optional<double> pue;
  std::optional<double> staff_per_year;  ///< in `currency`
  std::optional<double> lifetime_years;
  std::optional<double> capex;  ///< in `currency`, of one machine
};
struct OwnedCost {
  std::int64_t devices = 1;
  double fixed_per_month = 0;     ///< of the machine: depreciation, capital, upkeep, staff, rack
  double per_hour = 0;            ///< of work: energy
  Breakdown<double> per_month;    ///< terms of both, working all month
  bool power_is_unknown = false;  ///< of the machine, or its price: energy is not in the terms
};
/// Null when price or lifetime of the machine is unknown.
std::optional<OwnedCost> owned_cost(const Catalog& catalog, const OwnedInputs& in, Explain* why);
/// Hours a month of work from which owning is cheaper than renting the same at `rent_per_hour` (for the same devices). Empty
/// when the energy alone is dearer; above `hours_per_month` renting is always cheaper.
std::optional<double> break_even_hours(const OwnedCost& owned, double rent_per_hour);

/// Tokens of an average request; images and minutes of audio where the service is priced by them.
struct TokenLoad {
  double input = 0;
  double cached_share = 0;  ///< of the input that was sent before
  double output = 0;
  bool batch = false;  ///< may be answered within a day
};
/// Money for one request; empty where a price that it needs is unknown. A cached token without a price of its own costs as any other.
std::optional<double> token_price(const Catalog& catalog, const Provider& provider, const TokenPrice& price,
                                  const TokenLoad& load, std::string_view currency, VatHandling vat);

struct VolumeInputs {
  double per_request = 0;         ///< of the service
  double rented_per_month = 0;    ///< of one deployment that runs all month
  double requests_per_month = 0;  ///< that one deployment carries at most
};
struct VolumeBreakEven {
  std::optional<double> requests;  ///< a month from which renting is cheaper; empty: the service always is
  std::int64_t deployments = 0;    ///< rented at that volume
  double service_per_request = 0, rented_per_request = 0;  ///< the latter of full deployments
  bool rented_wins_from_there_on = false;  ///< at every larger volume, not only until the next deployment is rented
};
VolumeBreakEven break_even_volume(const VolumeInputs& in);

struct ServerlessInputs {
  double per_second = 0;  ///< of a worker while it runs
  double requests_per_hour = 0;
  Seconds busy;        ///< a request keeps a worker busy
  Seconds cold_start;  ///< billed before a request that finds no worker
  Seconds keep_alive;  ///< a worker waits, billed, for the next request
};
struct ServerlessCost {
  double per_hour = 0;
  double cold_share = 0;  ///< of requests that start a worker, with arrivals at random
  double busy_share = 0;  ///< of the time that is billed
};
/// One worker at a time carries the load; arrivals are a Poisson process, so that a request finds the worker gone with
/// exp(-rate * keep_alive).
ServerlessCost serverless_cost(const ServerlessInputs& in, Explain* why);
/// Requests an hour from which an instance at `per_hour` that is always on is cheaper; empty when it never is within one worker's capacity.
std::optional<double> break_even_requests(const ServerlessInputs& in, double per_hour);

/// Of a country's buildings, else of the world's, else 1.
double pue_of(const Catalog& catalog, const EnergyMix* mix);

struct EnergyUse {
  double kilowatt_hours = 0;
  std::optional<double> kilograms_co2;
  std::optional<double> cost;   ///< in `currency`
  bool pue_is_assumed = false;  ///< none is known of the country: the world's, else 1
};
/// Of a power for a time, in the building that `mix` describes (null: nothing is known of it).
EnergyUse energy_use(const Catalog& catalog, Watts power, Seconds time, const EnergyMix* mix, std::string_view currency,
                     Explain* why);

}  // namespace gpuplan
