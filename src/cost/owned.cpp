#include <gpuplan/cost/break_even.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

constexpr double kMonths = 12;

double exchange(const Catalog& catalog, Text from, std::string_view to) {
  return from.empty() ? 1 : convert(catalog, {1, from}, to).amount;
}

}  // namespace

std::optional<OwnedCost> owned_cost(const Catalog& catalog, const OwnedInputs& in, Explain* why) {
  const OwnedHardware& machine = *in.hardware;
  const double rate = exchange(catalog, machine.currency, in.currency);
  const double price = in.capex ? *in.capex : machine.capex.or_else(0) * rate;
  const double years = in.lifetime_years ? *in.lifetime_years : machine.lifetime_years.or_else(0);
  if (price <= 0 || years <= 0) return std::nullopt;
  OwnedCost cost;
  cost.devices = machine.count.or_else(1);
  const double residual = std::min(1.0, machine.residual_percent.or_else(0) / 100);
  const double staff = in.staff_per_year ? *in.staff_per_year : machine.staff_per_year.or_else(0) * rate;
  const double depreciation = price * (1 - residual) / (years * kMonths);
  const double capital = price * (1 + residual) / 2 * in.capital_percent / 100 / kMonths;
  const double upkeep = price * machine.upkeep_percent.or_else(0) / 100 / kMonths;
  const double rack = machine.rack_per_month.or_else(0) * rate;
  cost.fixed_per_month = depreciation + capital + upkeep + staff / kMonths + rack;
  const double kwh_price =
      in.power_price
          ? *in.power_price
          : (in.energy ? in.energy->price_per_kwh.or_else(0) * exchange(catalog, in.energy->currency, in.currency) : 0);
  const double pue = in.pue ? *in.pue : pue_of(catalog, in.energy);
  cost.power_is_unknown = !machine.power.known() || kwh_price <= 0;
  const double kilowatts = machine.power.or_else({}) * in.share_of_tdp / watts(1000);
  cost.per_hour = kilowatts * pue * kwh_price;
  const auto add = [&](std::string_view id, double amount) {
    if (amount > 0) cost.per_month.add(id, amount);
  };
  add("depreciation", depreciation);
  add("capital", capital);
  add("upkeep", upkeep);
  add("staff", staff / kMonths);
  add("rack", rack);
  add("energy", cost.per_hour * kHoursPerMonth);
  if (why) {
    why->term("owned.depreciation", depreciation, "price * (1 - residual) / (years * 12)",
              {{"price", price, catalog.source(machine.capex.source).text}, {"residual", residual}, {"years", years}},
              Unit::money);
    why->term("owned.energy_per_hour", cost.per_hour, "kilowatts * pue * price_per_kwh",
              {{"kilowatts", kilowatts}, {"pue", pue}, {"price_per_kwh", kwh_price}}, Unit::money);
    why->term("owned.fixed_per_month", cost.fixed_per_month, "depreciation + capital + upkeep + staff + rack",
              {{"depreciation", depreciation},
               {"capital", capital},
               {"upkeep", upkeep},
               {"staff", staff / kMonths},
               {"rack", rack}},
              Unit::money);
  }
  return cost;
}

std::optional<double> break_even_hours(const OwnedCost& owned, double rent_per_hour) {
  const double saved = rent_per_hour - owned.per_hour;
  if (saved <= 0) return std::nullopt;
  return owned.fixed_per_month / saved;
}

}  // namespace gpuplan
