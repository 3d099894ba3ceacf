// What the store's snapshots show together: differences, history, offers for the catalogue.

#include "store_access.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace gpuplan {
namespace {

constexpr double kSamePrice = 0.0005;    // rounding of lists
constexpr double kSameInDollars = 0.01;  // another currency at another day's rate
constexpr std::size_t kManyRows = 10;    // that one factor over all of them is no coincidence

std::string from_where(std::int64_t snapshot) {
  return "SELECT " + StoreAccess::columns() +
         " FROM offer o JOIN snapshot s ON s.id = o.snapshot WHERE o.snapshot = " + std::to_string(snapshot);
}

bool near(std::optional<double> a, std::optional<double> b, double tolerance) {
  if (!a || !b) return a.has_value() == b.has_value();
  return std::abs(*a - *b) <= tolerance * std::max(std::abs(*a), std::abs(*b));
}

// What is stated otherwise though it is not the price.
std::string restated(const ImportedOffer& a, const ImportedOffer& b) {
  std::vector<std::string> what;
  if (a.currency != b.currency) what.push_back("currency " + a.currency + " to " + b.currency);
  if (a.unit != b.unit)
    what.push_back("per " + std::string(to_string(a.unit)) + " to per " + std::string(to_string(b.unit)));
  if (a.scope != b.scope)
    what.push_back("per " + std::string(to_string(a.scope)) + " to per " + std::string(to_string(b.scope)));
  if (a.vat != b.vat) what.push_back("VAT " + std::string(to_string(a.vat)) + " to " + std::string(to_string(b.vat)));
  if (a.includes_host != b.includes_host) what.push_back(b.includes_host ? "host now included" : "host now apart");
  return join(what, ", ");
}

std::string facts_changed(const ImportedOffer& a, const ImportedOffer& b) {
  std::vector<std::string> what;
  const auto note = [&](const char* name, std::optional<double> x, std::optional<double> y) {
    if (x && y && !near(x, y, kSamePrice))
      what.push_back(std::string(name) + " " + format_shortest(*x) + " to " + format_shortest(*y));
  };
  note("vcpus", a.vcpus, b.vcpus);
  note("ram_gb", a.ram_gb, b.ram_gb);
  note("gpu_memory_gb", a.gpu_memory_gb, b.gpu_memory_gb);
  note("storage_gb", a.storage_gb, b.storage_gb);
  return join(what, ", ");
}

PriceDifference difference_of(StoredOffer before, StoredOffer after) {
  PriceDifference d;
  d.id = after.id;
  d.why = restated(before.offer, after.offer);
  const bool tokens = after.offer.contract == Contract::token_api;
  const bool priced_alike = tokens ? near(before.offer.input_per_1m, after.offer.input_per_1m, kSamePrice) &&
                                         near(before.offer.output_per_1m, after.offer.output_per_1m, kSamePrice)
                                   : near(before.offer.price, after.offer.price, kSamePrice);
  if (before.usd_gpu_hour && after.usd_gpu_hour && *before.usd_gpu_hour > 0)
    d.ratio = *after.usd_gpu_hour / *before.usd_gpu_hour;
  const bool same_value = d.ratio ? std::abs(*d.ratio - 1) <= kSameInDollars : priced_alike;
  if (!d.why.empty()) {
    d.change = same_value ? PriceChange::restated : PriceChange::restated_and_moved;
  } else if (!priced_alike) {
    d.change = PriceChange::moved;
    // The stated amounts themselves: a rate of exchange in between is no move of the price.
    if (before.offer.price && after.offer.price && *before.offer.price > 0)
      d.ratio = *after.offer.price / *before.offer.price;
  } else {
    d.change = PriceChange::restated;
    d.why = facts_changed(before.offer, after.offer);
  }
  d.before = std::move(before);
  d.after = std::move(after);
  return d;
}

// Every row of a provider by one factor: a rate or a tax.
void find_factors(std::vector<PriceDifference>& all, const std::map<std::string, std::size_t>& rows_of) {
  std::map<std::string, std::vector<PriceDifference*>> moved;
  for (PriceDifference& d : all) {
    if (d.change == PriceChange::moved && d.ratio) moved[d.after->offer.provider].push_back(&d);
  }
  for (auto& [provider, rows] : moved) {
    if (rows.size() < kManyRows || rows.size() * 10 < rows_of.at(provider) * 9) continue;
    const auto [least, most] =
        std::minmax_element(rows.begin(), rows.end(), [](auto* a, auto* b) { return *a->ratio < *b->ratio; });
    if (*(*most)->ratio > *(*least)->ratio * 1.001) continue;
    for (PriceDifference* d : rows) {
      d->change = PriceChange::restated;
      d->why = "one factor over all prices of the provider: " + format_significant(*d->ratio, 4);
    }
  }
}

}  // namespace

std::string_view to_string(PriceChange change) {
  switch (change) {
    case PriceChange::added:
      return "added";
    case PriceChange::removed:
      return "removed";
    case PriceChange::moved:
      return "moved";
    case PriceChange::restated:
      return "restated";
    case PriceChange::restated_and_moved:
      return "restated_and_moved";
  }
  return {};
}

std::vector<PriceDifference> compare_snapshots(PriceStore& store, std::int64_t a, std::int64_t b) {
  Database& db = StoreAccess::database(store);
  for (const std::int64_t id : {a, b}) {
    if (db.number("SELECT count(*) FROM snapshot WHERE id = " + std::to_string(id)) > 0) continue;
    throw InputError(Problem{"input.unknown_name",
                             "the store has no snapshot " + std::to_string(id),
                             std::nullopt,
                             "a number from 'gpuplan prices snapshots'",
                             {},
                             {}});
  }
  const auto other = [](const std::string& mine, std::int64_t id) {
    return " FROM offer x WHERE x.snapshot = " + std::to_string(id) + " AND x.key = " + mine +
           ".key AND x.copy = " + mine + ".copy";
  };
  std::vector<PriceDifference> all;
  for (StoredOffer& gone :
       StoreAccess::select(store, from_where(a) + " AND NOT EXISTS (SELECT 1" + other("o", b) + ") ORDER BY o.key")) {
    PriceDifference d;
    d.change = PriceChange::removed;
    d.id = gone.id;
    d.before = std::move(gone);
    all.push_back(std::move(d));
  }
  for (StoredOffer& fresh :
       StoreAccess::select(store, from_where(b) + " AND NOT EXISTS (SELECT 1" + other("o", a) + ") ORDER BY o.key")) {
    PriceDifference d;
    d.change = PriceChange::added;
    d.id = fresh.id;
    d.after = std::move(fresh);
    all.push_back(std::move(d));
  }
  // Rows of both whose price or statement differs, in the same order from either side.
  const auto differing = [&](std::int64_t mine, std::int64_t theirs) {
    return StoreAccess::select(
        store,
        from_where(mine) + " AND EXISTS (SELECT 1" + other("o", theirs) +
            " AND (x.price IS NOT o.price OR x.currency IS NOT o.currency OR x.unit <> o.unit OR x.scope <> o.scope OR "
            "x.vat <> o.vat OR x.includes_host <> o.includes_host OR x.vcpus IS NOT o.vcpus OR x.ram_gb IS NOT "
            "o.ram_gb "
            "OR x.gpu_memory_gb IS NOT o.gpu_memory_gb OR x.storage_gb IS NOT o.storage_gb OR x.input_per_1m IS NOT "
            "o.input_per_1m OR x.output_per_1m IS NOT o.output_per_1m)) ORDER BY o.key, o.copy");
  };
  std::vector<StoredOffer> before = differing(a, b);
  std::vector<StoredOffer> after = differing(b, a);
  GPUPLAN_ASSERT(before.size() == after.size(), "the same rows differ from either side");
  for (std::size_t i = 0; i < before.size(); ++i) {
    PriceDifference d = difference_of(std::move(before[i]), std::move(after[i]));
    if (d.change != PriceChange::restated || !d.why.empty()) all.push_back(std::move(d));
  }
  std::map<std::string, std::size_t> rows_of;
  Statement s(db, "SELECT provider, count(*) FROM offer WHERE snapshot = " + std::to_string(b) +
                      " AND price IS NOT NULL GROUP BY provider");
  while (s.step()) rows_of[s.text(0)] = static_cast<std::size_t>(s.whole(1).value_or(0));
  find_factors(all, rows_of);
  return all;
}

std::vector<PriceSeries> price_history(PriceStore& store, const StoreQuery& query) {
  StoreQuery all = query;
  all.all_snapshots = true;
  std::vector<PriceSeries> series;
  Statement s(StoreAccess::database(store),
              "SELECT o.provider, o.gpu, o.contract, coalesce(o.observed_on, substr(s.imported_at, 1, 10)) AS day, "
              "min(o.usd_gpu_hour), s.source FROM offer o JOIN snapshot s ON s.id = o.snapshot WHERE " +
                  StoreAccess::where(all) +
                  " AND o.usd_gpu_hour IS NOT NULL GROUP BY o.provider, o.gpu, o.contract, day ORDER BY 1, 2, 3, 4");
  while (s.step()) {
    const std::string provider = s.text(0);
    const std::string gpu = s.text(1);
    const Contract contract = parse_contract(s.text(2)).value.value_or(Contract::on_demand);
    if (series.empty() || std::tie(series.back().provider, series.back().gpu, series.back().contract) !=
                              std::tie(provider, gpu, contract))
      series.push_back({provider, gpu, contract, {}});
    series.back().points.push_back({s.text(3), s.number(4).value_or(0), s.text(5)});
  }
  return series;
}

// The bands that lists give are shares of instances that were interrupted in a month: `<5%`, `5-10%`, `>20%`. The middle of a band,
// or where it is open its one end, as a rate a month of an instance that always runs.
std::optional<double> interruptions_of(const std::string& band) {
  constexpr const char* kDigits = "0123456789.";
  if (band.find_first_not_of("0123456789.<>=-% ") != std::string::npos) return std::nullopt;  // in words
  std::vector<double> bounds;
  for (std::size_t at = band.find_first_of(kDigits); at != std::string::npos; at = band.find_first_of(kDigits, at)) {
    const std::size_t end = std::min(band.find_first_not_of(kDigits, at), band.size());
    const auto bound = parse_non_negative(band.substr(at, end - at));
    if (!bound.value || *bound.value > 100) return std::nullopt;
    bounds.push_back(*bound.value);
    at = end;
  }
  if (bounds.empty() || bounds.size() > 2) return std::nullopt;
  if (bounds.size() == 1 && band.find('<') != std::string::npos) bounds.insert(bounds.begin(), 0);
  const double share = (bounds.front() + bounds.back()) / 200;
  if (share <= 0 || share >= 1) return std::nullopt;
  return -std::log1p(-share);
}

std::vector<AddedOffer> offers_for_catalog(PriceStore& store, const StoreQuery& query) {
  std::vector<AddedOffer> added;
  for (StoredOffer& stored : store.offers(query)) {
    ImportedOffer& o = stored.offer;
    if (o.contract == Contract::token_api) continue;
    AddedOffer out;
    out.id = std::move(stored.id);
    out.provider = std::move(o.provider);
    out.gpu = std::move(o.gpu);
    out.count = o.count;
    out.scope = o.scope;
    out.includes_host = o.includes_host;
    out.marketplace = o.marketplace;
    out.contract = o.contract;
    out.term = std::move(o.term);
    out.term_months = o.term_months;
    out.price = o.price;
    out.currency = std::move(o.currency);
    out.unit = o.unit;
    out.vat = o.vat;
    out.region = std::move(o.region);
    out.country = std::move(o.country);
    out.interconnect = std::move(o.interconnect);
    if (o.network_gbit_per_s) out.network = gigabits_per_second(*o.network_gbit_per_s);
    out.vcpus = o.vcpus;
    if (o.ram_gb) out.ram = gigabytes(*o.ram_gb);
    if (o.storage_gb) out.storage = gigabytes(*o.storage_gb);
    out.product = std::move(o.product);
    if (o.contract == Contract::spot && !o.interruption.empty())
      out.interruptions_per_month = interruptions_of(o.interruption);
    out.confidence = o.confidence;
    out.rankable = o.rankable;
    out.why_not = std::move(o.why_not);
    out.notes = std::move(o.notes);
    out.source = stored.source + ", imported " + stored.imported_at.substr(0, 10) + ": " + o.source;
    out.observed_on = o.observed_on.empty() ? stored.imported_at.substr(0, 10) : std::move(o.observed_on);
    added.push_back(std::move(out));
  }
  return added;
}

}  // namespace gpuplan
