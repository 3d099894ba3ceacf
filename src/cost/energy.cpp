#include <gpuplan/cost/break_even.hpp>

namespace gpuplan {

double pue_of(const Catalog& catalog, const EnergyMix* mix) {
  if (mix && mix->pue.known()) return *mix->pue;
  const EnergyMix* anywhere = catalog.find_energy("");
  return anywhere ? anywhere->pue.or_else(1) : 1;
}

EnergyUse energy_use(const Catalog& catalog, Watts power, Seconds time, const EnergyMix* mix, std::string_view currency,
                     Explain* why) {
  EnergyUse use;
  const double pue = pue_of(catalog, mix);
  use.pue_is_assumed = !mix || !mix->pue.known();
  use.kilowatt_hours = power * time * pue / kilowatt_hours(1);
  if (mix && mix->grams_co2_per_kwh.known()) use.kilograms_co2 = use.kilowatt_hours * *mix->grams_co2_per_kwh / 1000;
  if (mix && mix->price_per_kwh.known() && !mix->currency.empty()) {
    use.cost = convert(catalog, {use.kilowatt_hours * *mix->price_per_kwh, mix->currency}, currency).amount;
  }
  if (why) {
    why->term("energy.kilowatt_hours", use.kilowatt_hours, "watts * hours * pue / 1000",
              {{"watts", power / watts(1)}, {"hours", time / hours(1)}, {"pue", pue}});
  }
  return use;
}

}  // namespace gpuplan
