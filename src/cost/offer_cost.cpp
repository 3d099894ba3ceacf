#include <gpuplan/cost/offer_cost.hpp>

namespace gpuplan {
namespace {

double hours_per_unit(PriceUnit unit, double month) {
  switch (unit) {
    case PriceUnit::second:
      return 1.0 / 3600;
    case PriceUnit::hour:
      return 1;
    case PriceUnit::month:
      return month;
  }
  return 1;
}

struct Context {
  const Catalog& catalog;
  const CostInputs& in;
  double vat_share;  // VAT over the net price, 0 when the provider's rate is unknown
  double hours;      // a month
};

// How a listed amount becomes one net of VAT in the asked currency.
struct Listed {
  double amount = 0;
  double vat = 0;       // share of VAT in it, over the net amount
  double exchange = 1;  // units of the asked currency for one of its own
  Text source;
  [[nodiscard]] double net() const { return amount / (1 + vat) * exchange; }
};

Listed listed(const Context& c, const Fact<double>& amount, Text currency, Vat vat) {
  return {amount.or_else(0), vat == Vat::included ? c.vat_share : 0,
          convert(c.catalog, {1, currency}, c.in.currency).amount, c.catalog.source(amount.source).text};
}

double compute_cost(const Context& c, double gpus, Explain* why) {
  const Offer& offer = *c.in.offer;
  const double units = offer.scope == PriceScope::gpu ? gpus : static_cast<double>(c.in.instances);
  const double hours = hours_per_unit(offer.unit, c.hours);
  const Listed price = listed(c, offer.price, offer.currency, offer.vat);
  const double total = units * price.net() / hours;
  if (why) {
    why->term("cost.compute", total, "units * listed / (1 + vat) * exchange / hours",
              {{"units", units},
               {"listed", price.amount, price.source},
               {"vat", price.vat},
               {"exchange", price.exchange},
               {"hours", hours}},
              Unit::money);
  }
  return total;
}

// An amount a GPU of something that is billed apart; `hours` is the time its rate is for.
double part_cost(std::string_view id, double amount, const Listed& rate, double hours, Explain* why) {
  const double total = amount * rate.net() / hours;
  if (why) {
    why->term(id, total, "amount * listed / (1 + vat) * exchange / hours",
              {{"amount", amount},
               {"listed", rate.amount, rate.source},
               {"vat", rate.vat},
               {"exchange", rate.exchange},
               {"hours", hours}},
              Unit::money);
  }
  return total;
}

// vCPU, RAM and disk where the price is for the accelerator alone.
void add_host(const Context& c, const HostParts& parts, double gpus, Breakdown<double>& terms, Explain* why) {
  const Offer& offer = *c.in.offer;
  const bool spot = offer.contract == Contract::spot;
  const auto rate = [&](const Fact<double>& regular, const Fact<double>& on_spot) {
    return listed(c, spot && on_spot.known() ? on_spot : regular, parts.currency, parts.vat);
  };
  const double vcpus = offer.vcpus.or_else(parts.vcpus_per_gpu.or_else(0));
  const double ram = offer.ram.known() ? *offer.ram / gibibytes(1) : parts.ram_gib_per_gpu.or_else(0);
  const double disk = parts.disk_gb_per_instance.or_else(0) * static_cast<double>(c.in.instances);
  terms.add("host_cpu",
            part_cost("cost.host_cpu", gpus * vcpus, rate(parts.vcpu_per_hour, parts.vcpu_per_hour_spot), 1, why));
  terms.add("host_ram",
            part_cost("cost.host_ram", gpus * ram, rate(parts.ram_gib_per_hour, parts.ram_gib_per_hour_spot), 1, why));
  terms.add("host_disk", part_cost("cost.host_disk", disk, rate(parts.disk_gb_month, {}), c.hours, why));
}

}  // namespace

double hours_per_month(const Provider& provider) { return provider.hours_per_month.or_else(kHoursPerMonth); }

double added_vat_share(VatHandling vat, const Provider& provider) {
  return vat.adds ? vat.percent.value_or(provider.vat_percent.or_else(0)) / 100 : 0;
}

std::optional<Breakdown<double>> hourly_cost(const Catalog& catalog, const CostInputs& in, Explain* why) {
  const Offer& offer = *in.offer;
  if (!offer.price.known() || !offer.count.known()) return std::nullopt;
  const Context c{catalog, in, in.provider->vat_percent.or_else(0) / 100, hours_per_month(*in.provider)};
  const double gpus = static_cast<double>(*offer.count * in.instances);
  Breakdown<double> terms;
  terms.add("compute", compute_cost(c, gpus, why));
  if (!offer.includes_host) {
    if (in.provider->host_parts.empty()) return std::nullopt;  // a GPU alone is not a server
    add_host(c, in.provider->host_parts.front(), gpus, terms, why);
  }
  if (in.vat.adds) {
    const double before = terms.total();
    const double share = added_vat_share(in.vat, *in.provider);
    const double tax = before * share;
    if (why) why->term("cost.tax", tax, "before * vat_share", {{"before", before}, {"vat_share", share}}, Unit::money);
    terms.add("tax", tax);
  }
  return terms;
}

}  // namespace gpuplan
