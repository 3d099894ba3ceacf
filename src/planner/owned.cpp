#include <gpuplan/planner/owned.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

constexpr std::string_view kOwner = "owned";

OwnedInputs inputs_of(const Catalog& catalog, const OwnedHardware& machine, const OwnedTerms& terms) {
  OwnedInputs in;
  in.hardware = &machine;
  in.energy = catalog.find_energy(terms.country);
  in.currency = terms.currency;
  in.capital_percent = terms.capital_percent;
  in.power_price = terms.power_price;
  in.pue = terms.pue;
  in.staff_per_year = terms.staff_per_year;
  in.lifetime_years = terms.lifetime_years;
  return in;
}

std::string offer_id(const OwnedHardware& machine) { return std::string(kOwner) + "/" + std::string(machine.name); }

}  // namespace

std::vector<AddedOffer> owned_offers(const Catalog& catalog, const OwnedTerms& terms) {
  std::vector<AddedOffer> offers;
  for (const OwnedHardware& machine : catalog.owned_hardware()) {
    const auto cost = owned_cost(catalog, inputs_of(catalog, machine, terms), nullptr);
    const Accelerator* accelerator = catalog.find_accelerator(machine.gpu);
    if (!cost || !accelerator || cost->power_is_unknown) continue;
    AddedOffer offer;
    offer.id = offer_id(machine);
    offer.provider = kOwner;
    offer.gpu = accelerator->name;
    offer.count = cost->devices;
    offer.contract = Contract::owned;
    offer.price = cost->fixed_per_month / kHoursPerMonth + cost->per_hour;
    offer.currency = terms.currency;
    offer.vat = Vat::excluded;
    offer.country = terms.country;
    offer.product = machine.title;
    if (const NodeDesign* node = catalog.find_node(machine.node); node && node->node_rate.known())
      offer.network = *node->node_rate;
    const Source& source = catalog.source(machine.capex.source);
    offer.source = source.text;
    offer.observed_on = source.observed_on;
    offer.confidence = machine.capex.mark == Mark::published ? Confidence::published : Confidence::second_hand;
    offers.push_back(std::move(offer));
  }
  return offers;
}

std::vector<OwnedBreakEven> owned_break_even(const Catalog& catalog, const EstimateRequest& request,
                                             const std::vector<Option>& options, const OwnedTerms& terms) {
  std::vector<OwnedBreakEven> found;
  for (const Option& option : options) {
    if (option.offer->contract != Contract::owned || option.provider->name != kOwner) continue;
    const auto machine = std::find_if(catalog.owned_hardware().begin(), catalog.owned_hardware().end(),
                                      [&](const OwnedHardware& owned) { return offer_id(owned) == option.offer->id; });
    if (machine == catalog.owned_hardware().end()) continue;
    const auto cost = owned_cost(catalog, inputs_of(catalog, *machine, terms), nullptr);
    if (!cost) continue;
    OwnedBreakEven line;
    line.machine = &*machine;
    line.cost = *cost;
    line.rented = cheapest_hourly(catalog, *option.provider, *option.offer, terms.currency, request.vat);
    if (line.rented.offer) {
      line.rented_per_hour = line.rented.per_gpu_hour * static_cast<double>(cost->devices);
      line.hours = break_even_hours(*cost, line.rented_per_hour);
      line.wins = line.hours && *line.hours <= kHoursPerMonth;
    }
    found.push_back(std::move(line));
  }
  return found;
}

}  // namespace gpuplan
