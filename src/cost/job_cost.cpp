#include <gpuplan/cost/job_cost.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace gpuplan {
namespace {

// A duration that is whole quanta up to rounding of doubles is that many.
double whole_quanta(Seconds duration, Seconds quantum) {
  const double quanta = duration / quantum;
  return std::max(1.0, std::ceil(quanta - 1e-9 * std::max(1.0, quanta)));
}

const ProviderTerms* terms_of(const Provider& provider) {
  return provider.terms.empty() ? nullptr : &provider.terms.front();
}

Seconds month_of(const Provider& provider) { return hours(hours_per_month(provider)); }

bool is_reserved_term(const Offer& offer) { return offer.contract == Contract::reserved && offer.term_months.known(); }

// What one amount of the offer's own currency is net of VAT in the asked one.
struct Net {
  double vat = 0;
  double exchange = 1;
  [[nodiscard]] double of(double amount) const { return amount / (1 + vat) * exchange; }
};

struct Bill {
  const Catalog& catalog;
  const JobCostInputs& in;
  JobCost cost;
  double vat_share = 0;
  double used_hours = 0, used_hours_high = 0;
  double before_tax = 0, before_tax_high = 0;

  void add(std::string_view id, double value, double high) {
    cost.terms.add(id, value, value, high);
    before_tax += value;
    before_tax_high += high;
  }
  [[nodiscard]] Net net(std::string_view currency, Vat vat) const {
    return {vat == Vat::included ? vat_share : 0, convert(catalog, {1, currency}, in.currency).amount};
  }
};

// Each part of the hourly rate, for the hours that are used; and the whole rate for those that are not.
void add_time(Bill& bill, const Breakdown<double>& hourly, const Breakdown<double>& billed_hourly, Explain* why) {
  for (const auto& part : hourly.terms()) {
    bill.add(part.id, part.value * bill.used_hours, part.value * bill.used_hours_high);
    if (why) {
      why->term("job." + std::string(part.id), part.value * bill.used_hours, "per_hour * hours",
                {{"per_hour", part.value}, {"hours", bill.used_hours}}, Unit::money);
    }
  }
  const double rate = billed_hourly.total();
  const double billed = bill.cost.billed / hours(1);
  // Never less than nothing: the difference of two large sums may round below it.
  const double idle = std::max(0.0, rate * billed - hourly.total() * bill.used_hours);
  const double idle_high =
      std::max(0.0, rate * (bill.cost.billed_high / hours(1)) - hourly.total() * bill.used_hours_high);
  bill.add("idle", idle, idle_high);
  if (why) {
    why->term("job.idle", idle, "max(0, billed_per_hour * billed_hours - used_per_hour * used_hours)",
              {{"billed_per_hour", rate},
               {"billed_hours", billed},
               {"used_per_hour", hourly.total()},
               {"used_hours", bill.used_hours}},
              Unit::money);
  }
}

// A fee for what the price's scope says: once, or at the start of each term.
void add_fee(Bill& bill, std::string_view id, const Fact<double>& fee, double times, double times_high, Explain* why) {
  if (!fee.known()) return;
  const Offer& offer = *bill.in.offer;
  const double count = static_cast<double>(bill.cost.instances) *
                       (offer.scope == PriceScope::gpu ? static_cast<double>(*offer.count) : 1);
  const Net net = bill.net(offer.currency, offer.vat);
  const double once = count * net.of(*fee);
  bill.add(id, once * times, once * times_high);
  if (why) {
    why->term("job." + std::string(id), once * times, "count * listed / (1 + vat) * exchange * times",
              {{"count", count},
               {"listed", *fee, bill.catalog.source(fee.source).text},
               {"vat", net.vat},
               {"exchange", net.exchange},
               {"times", times}},
              Unit::money);
  }
}

// The cheapest price of a unit in the asked currency: of the wanted kind, else of any kind that is in use while a job runs, else
// any. Tiers that are slow to read from have no kind.
const StoragePrice* cheapest(const Bill& bill, std::string_view unit, StorageKind wanted) {
  const StoragePrice* best = nullptr;
  double least = 0;
  const auto consider = [&](auto accepts) {
    for (const StoragePrice& price : bill.in.provider->storage) {
      if (price.unit != unit || !price.price.known() || price.currency.empty() || !accepts(price.kind)) continue;
      const double amount = bill.net(price.currency, price.vat).of(*price.price);
      if (best && amount >= least) continue;
      best = &price;
      least = amount;
    }
  };
  if (wanted != StorageKind::unknown) consider([&](StorageKind kind) { return kind == wanted; });
  if (!best) consider([](StorageKind kind) { return kind != StorageKind::unknown; });
  if (!best) consider([](StorageKind) { return true; });
  return best;
}

void add_storage(Bill& bill, Explain* why) {
  const JobCostInputs& in = bill.in;
  if (in.stored <= Bytes{}) return;
  const StoragePrice* price = cheapest(bill, "gb_month", in.stored_in);
  if (!price) {
    bill.cost.storage_is_unpriced = true;
    return;
  }
  const bool given = in.stored_for > Seconds{};
  const double months = (given ? in.stored_for : bill.cost.billed) / month_of(*in.provider);
  const double months_high = (given ? in.stored_for : bill.cost.billed_high) / month_of(*in.provider);
  const double gigabytes_billed = std::max(0.0, (in.stored - price->free.or_else({})) / gigabytes(1));
  const Net net = bill.net(price->currency, price->vat);
  const double a_month = gigabytes_billed * net.of(*price->price);
  bill.add("storage", a_month * months, a_month * months_high);
  if (why) {
    why->term("job.storage", a_month * months, "gigabytes * listed / (1 + vat) * exchange * months",
              {{"gigabytes", gigabytes_billed},
               {"listed", *price->price, bill.catalog.source(price->price.source).text},
               {"vat", net.vat},
               {"exchange", net.exchange},
               {"months", months}},
              Unit::money);
  }
}

void add_egress(Bill& bill, Explain* why) {
  if (bill.in.egress <= Bytes{}) return;
  const StoragePrice* price = cheapest(bill, "gb_egress", StorageKind::unknown);
  if (!price) {
    bill.cost.egress_is_unpriced = true;
    return;
  }
  const double gigabytes_billed = std::max(0.0, (bill.in.egress - price->free.or_else({})) / gigabytes(1));
  const Net net = bill.net(price->currency, price->vat);
  const double total = gigabytes_billed * net.of(*price->price);
  bill.add("egress", total, total);
  if (why) {
    why->term("job.egress", total, "gigabytes * listed / (1 + vat) * exchange",
              {{"gigabytes", gigabytes_billed},
               {"listed", *price->price, bill.catalog.source(price->price.source).text},
               {"vat", net.vat},
               {"exchange", net.exchange}},
              Unit::money);
  }
}

void add_tax(Bill& bill, Explain* why) {
  const VatHandling vat = bill.in.vat;
  if (!vat.adds) return;
  if (!vat.percent && !bill.in.provider->vat_percent.known()) {
    bill.cost.tax_is_unknown = true;
    return;
  }
  const double before = bill.before_tax;
  const double share = added_vat_share(vat, *bill.in.provider);
  bill.cost.terms.add("tax", before * share, before * share, bill.before_tax_high * share);
  if (why) {
    why->term("job.tax", before * share, "before * vat_share", {{"before", before}, {"vat_share", share}}, Unit::money);
  }
}

// No fewer than the provider rents out together.
std::int64_t billed_instances(const Offer& offer, std::int64_t instances) {
  if (!offer.minimum_count.known()) return instances;
  return std::max(instances, (*offer.minimum_count + *offer.count - 1) / *offer.count);
}

}  // namespace

JobCostInputs job_on(const CostInputs& offer, Seconds duration, Seconds duration_high) {
  JobCostInputs in;
  in.provider = offer.provider;
  in.offer = offer.offer;
  in.instances = offer.instances;
  in.duration = duration;
  in.duration_high = duration_high;
  in.currency = offer.currency;
  in.vat = offer.vat;
  return in;
}

BilledTime billed_time(const Provider& provider, const Offer& offer, Seconds duration) {
  BilledTime billed;
  const ProviderTerms* terms = terms_of(provider);
  billed.least = terms ? terms->minimum_billed.or_else({}) : Seconds{};
  if (is_reserved_term(offer)) {
    billed.quantum = *offer.term_months * month_of(provider);
  } else if (offer.unit == PriceUnit::month) {
    billed.quantum = month_of(provider);
  } else if (offer.billing_granularity.known()) {
    billed.quantum = *offer.billing_granularity;
  } else if (provider.billing_granularity.known()) {
    billed.quantum = *provider.billing_granularity;
  } else {
    billed.quantum = offer.unit == PriceUnit::second ? seconds(1) : hours(1);
    billed.quantum_is_assumed = true;
  }
  billed.least = std::max(billed.least, offer.minimum_term.or_else({}));
  billed.quantum = std::max(billed.quantum, seconds(1e-3));  // a stated 0 is "as it runs"
  billed.time = std::max(whole_quanta(duration, billed.quantum) * billed.quantum, billed.least);
  return billed;
}

std::optional<JobCost> job_cost(const Catalog& catalog, const JobCostInputs& in, Explain* why) {
  GPUPLAN_ASSERT(std::isfinite(in.duration / seconds(1)) && in.duration >= Seconds{}, "a duration is a finite time");
  GPUPLAN_ASSERT(std::isfinite(in.duration_high / seconds(1)), "a duration is a finite time");
  GPUPLAN_ASSERT(in.instances >= 1, "something is rented");
  const auto hourly =
      hourly_cost(catalog, {in.provider, in.offer, in.instances, in.currency, VatHandling::exclude}, why);
  if (!hourly) return std::nullopt;
  const Offer& offer = *in.offer;
  Bill bill{catalog, in, {}};
  bill.vat_share = in.provider->vat_percent.or_else(0) / 100;
  const Seconds high = std::max(in.duration, in.duration_high);
  const BilledTime billed = billed_time(*in.provider, offer, in.duration);
  const BilledTime billed_high = billed_time(*in.provider, offer, high);
  bill.cost.billed = billed.time;
  bill.cost.billed_high = billed_high.time;
  bill.cost.granularity_is_assumed = billed.quantum_is_assumed;
  bill.cost.instances = billed_instances(offer, in.instances);
  bill.used_hours = in.duration / hours(1);
  bill.used_hours_high = high / hours(1);
  const auto billed_hourly =
      hourly_cost(catalog, {in.provider, in.offer, bill.cost.instances, in.currency, VatHandling::exclude}, nullptr);
  add_time(bill, *hourly, *billed_hourly, why);
  const auto terms = [&](const BilledTime& b) { return is_reserved_term(offer) ? b.time / b.quantum : 1.0; };
  add_fee(bill, "upfront", offer.upfront, terms(billed), terms(billed_high), why);
  add_storage(bill, why);
  add_egress(bill, why);
  add_fee(bill, "setup", offer.setup_fee, 1, 1, why);
  add_tax(bill, why);
  return bill.cost;
}

Breakdown<double> rounded(const Breakdown<double>& terms) {
  Breakdown<double> cents;
  const auto cent = [](double amount) { return std::round(amount * 100) / 100; };
  const auto step = [&](double before, double amount) { return cent(cent(before + amount) - cent(before)); };
  double value = 0;
  double low = 0;
  double high = 0;
  for (const auto& term : terms.terms()) {
    cents.add(term.id, step(value, term.value), step(low, term.low), step(high, term.high));
    value += term.value;
    low += term.low;
    high += term.high;
  }
  return cents;
}

}  // namespace gpuplan
