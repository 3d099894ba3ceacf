#include <gpuplan/cost/offer_cost.hpp>

namespace gpuplan {
namespace {

double hours_per_unit(PriceUnit unit, double month) {
  switch (unit) {
    case PriceUnit::second: return 1.0 / 3600;
    case PriceUnit::hour: return 1;
    case PriceUnit::month: return month;
  }
  return 1;
}

struct Context {
  const Catalog& catalog;
  const CostInputs& in;
  double vat_share;  // VAT over the net price, 0 when the provider's rate is unknown
  double hours;      // a month
};

// A listed amount an hour, net of VAT, in the asked currency.
double net(const Context& c, double amount, Text currency, Vat vat) {
  const double without = vat == Vat::included ? amount / (1 + c.vat_share) : amount;
  return convert(c.catalog, {without, currency}, c.in.currency).amount;
}

double compute_cost(const Context& c, double gpus, Explain* why) {
  const Offer& offer = *c.in.offer;
  const double units = offer.scope == PriceScope::gpu ? gpus : static_cast<double>(c.in.instances);
  const double hours = hours_per_unit(offer.unit, c.hours);
  const double rate = net(c, *offer.price, offer.currency, offer.vat);
  const double total = units * rate / hours;
  if (why) {
    why->term("cost.compute", total, "units * rate / hours",
              {{"units", units}, {"rate", rate, c.catalog.source(offer.price.source).text}, {"hours", hours}}, Unit::money);
  }
  return total;
}

double part_cost(std::string_view id, double gpus, double per_gpu, double rate, Text source, Explain* why) {
  const double total = gpus * per_gpu * rate;
  if (why) why->term(id, total, "gpus * per_gpu * rate", {{"gpus", gpus}, {"per_gpu", per_gpu}, {"rate", rate, source}}, Unit::money);
  return total;
}

// vCPU, RAM and disk where the price is for the accelerator alone.
void add_host(const Context& c, const HostParts& parts, double gpus, Breakdown<double>& terms, Explain* why) {
  const Offer& offer = *c.in.offer;
  const bool spot = offer.contract == Contract::spot;
  const auto rate = [&](const Fact<double>& regular, const Fact<double>& on_spot) {
    return net(c, spot ? on_spot.or_else(regular.or_else(0)) : regular.or_else(0), parts.currency, parts.vat);
  };
  const Text source = c.catalog.source(parts.source).text;
  const double vcpus = offer.vcpus.or_else(parts.vcpus_per_gpu.or_else(0));
  const double ram = offer.ram.known() ? *offer.ram / gibibytes(1) : parts.ram_gib_per_gpu.or_else(0);
  const double disk = parts.disk_gb_per_instance.or_else(0) * static_cast<double>(c.in.instances) / gpus;
  terms.add("host_cpu", part_cost("cost.host_cpu", gpus, vcpus, rate(parts.vcpu_per_hour, parts.vcpu_per_hour_spot), source, why));
  terms.add("host_ram", part_cost("cost.host_ram", gpus, ram, rate(parts.ram_gib_per_hour, parts.ram_gib_per_hour_spot), source, why));
  terms.add("host_disk", part_cost("cost.host_disk", gpus, disk, rate(parts.disk_gb_month, {}) / c.hours, source, why));
}

}  // namespace

double hours_per_month(const Provider& provider) { return provider.hours_per_month.or_else(kHoursPerMonth); }

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
  if (in.vat == VatHandling::include) {
    const double before = terms.total();
    const double tax = before * c.vat_share;
    if (why) why->term("cost.tax", tax, "before * vat_share", {{"before", before}, {"vat_share", c.vat_share}}, Unit::money);
    terms.add("tax", tax);
  }
  return terms;
}

}  // namespace gpuplan
