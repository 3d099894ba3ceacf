#include <gpuplan/report/build.hpp>

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace gpuplan {
namespace {

Cell cell(std::string_view text) { return text.empty() ? Cell{} : Cell{std::string(text), Unit::none}; }
Cell whole(std::int64_t number) { return {static_cast<double>(number), Unit::none}; }
Cell cell(std::optional<double> number, Unit unit = Unit::none) { return number ? Cell{*number, unit} : Cell{}; }
Cell cell(std::optional<std::int64_t> number) { return number ? whole(*number) : Cell{}; }

std::optional<double> percent(std::optional<double> ratio) {
  return ratio ? std::optional(std::round((*ratio - 1) * 10000) / 100) : std::nullopt;
}

// Units of `currency` for a dollar.
double per_dollar(const Catalog& catalog, std::string_view currency) {
  const CurrencyRate* rate = catalog.find_currency(currency);
  return rate ? rate->per_usd.or_else(1) : 1;
}

// The rate and its day, for a conversion is worth as much as its date.
std::string rate_note(const Catalog& catalog, const std::string& currency) {
  const CurrencyRate* rate = catalog.find_currency(currency);
  if (!rate || !rate->per_usd.known()) return {};
  const Source& source = catalog.source(rate->per_usd.source);
  return "1 USD = " + format_significant(*rate->per_usd, 6) + " " + currency +
         (source.observed_on.empty() ? "" : " on " + std::string(source.observed_on));
}

std::string rates_note(const Catalog& catalog, std::vector<std::string> currencies) {
  std::sort(currencies.begin(), currencies.end());
  currencies.erase(std::unique(currencies.begin(), currencies.end()), currencies.end());
  std::vector<std::string> notes;
  for (const std::string& currency : currencies) {
    if (currency == "USD") continue;
    if (const std::string note = rate_note(catalog, currency); !note.empty()) notes.push_back(note);
  }
  return join(notes, ", ");
}

std::string shown_price(const StoredOffer& stored) {
  const ImportedOffer& o = stored.offer;
  if (o.contract == Contract::token_api) {
    const auto part = [](std::optional<double> amount) { return amount ? format_shortest(*amount) : std::string("?"); };
    return part(o.input_per_1m) + " in, " + part(o.output_per_1m) + " out a million tokens " + o.currency;
  }
  if (!o.price) return {};
  return format_shortest(*o.price) + " " + o.currency + " per " + std::string(to_string(o.scope)) + " and " +
         std::string(to_string(o.unit));
}

void add_reasons(ListDocument& list, std::string_view what, const std::vector<ImportReason>& reasons) {
  for (const ImportReason& reason : reasons) {
    list.rows.push_back({cell(what), cell(reason.id), whole(reason.rows), cell(reason.message), cell(reason.example)});
  }
}

}  // namespace

std::string sparkline(const std::vector<double>& values) {
  static constexpr std::array<const char*, 8> kLevels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  std::string out;
  for (const double value : values) {
    const double share = *most > *least ? (value - *least) / (*most - *least) : 0;
    out += kLevels[static_cast<std::size_t>(std::clamp(std::floor(share * 8), 0.0, 7.0))];
  }
  return out;
}

ListDocument list_price_formats() {
  ListDocument list{"prices formats", {"name", "title", "text", "needs"}, {}, {}};
  for (const PriceFormat& format : price_formats())
    list.rows.push_back({cell(format.name), cell(format.title), cell(format.text), cell(format.needs)});
  return list;
}

ListDocument list_import(const ImportSummary& summary, const Snapshot& snapshot, const std::string& store) {
  ListDocument list{"prices import", {"what", "reason", "rows", "message", "example"}, {}, {}};
  list.rows.push_back({cell("read"), Cell{}, whole(summary.read), cell("rows of the list"), Cell{}});
  list.rows.push_back({cell("kept"), Cell{}, whole(summary.kept), cell("offers made of them"), Cell{}});
  list.rows.push_back(
      {cell("competing"), Cell{}, whole(summary.rankable), cell("offers that take part in plans"), Cell{}});
  add_reasons(list, "dropped", summary.dropped);
  add_reasons(list, "mended", summary.mended);
  add_reasons(list, "not competing", summary.unranked);
  list.note = "snapshot " + std::to_string(snapshot.id) + " of '" + snapshot.source + "' in " + store;
  return list;
}

ListDocument list_snapshots(const std::vector<Snapshot>& snapshots) {
  ListDocument list{"prices snapshots",
                    {"id", "source", "format", "imported_at", "offers", "competing", "read", "dropped", "origin"},
                    {},
                    {}};
  for (const Snapshot& s : snapshots) {
    list.rows.push_back({whole(s.id), cell(s.source), cell(s.format), cell(s.imported_at), whole(s.offers),
                         whole(s.rankable), whole(s.read), whole(s.dropped), cell(s.origin)});
  }
  return list;
}

ListDocument list_stored_offers(const Catalog& catalog, const std::vector<StoredOffer>& offers,
                                std::string_view currency) {
  ListDocument list{
      "prices list",
      {"provider", "accelerator", "count", "contract", "per_gpu_hour", "currency", "listed", "term", "region",
       "country", "product", "model", "interruption", "observed_on", "confidence", "source", "rankable", "why_not"},
      {},
      {}};
  std::vector<std::string> currencies = {std::string(currency)};
  const double rate = per_dollar(catalog, currency);
  for (const StoredOffer& stored : offers) {
    const ImportedOffer& o = stored.offer;
    currencies.push_back(o.currency);
    list.rows.push_back(
        {cell(o.provider), cell(o.gpu), cell(o.count), cell(to_string(o.contract)),
         cell(stored.usd_gpu_hour ? std::optional(*stored.usd_gpu_hour * rate) : std::nullopt, Unit::money),
         cell(currency), cell(shown_price(stored)), cell(o.term), cell(o.region), cell(o.country), cell(o.product),
         cell(o.model), cell(o.interruption),
         cell(o.observed_on.empty() ? std::string_view(stored.imported_at).substr(0, 10) : o.observed_on),
         cell(to_string(o.confidence)), cell(stored.source), Cell{o.rankable, Unit::none}, cell(o.why_not)});
  }
  list.note = "per_gpu_hour without VAT; converted: " + rates_note(catalog, currencies);
  if (list.note.ends_with(": ")) list.note = "per_gpu_hour without VAT";
  return list;
}

ListDocument list_history(const Catalog& catalog, const std::vector<PriceSeries>& series, std::string_view currency) {
  ListDocument list{
      "prices history",
      {"provider", "accelerator", "contract", "day", "per_gpu_hour", "currency", "change_percent", "trend", "source"},
      {},
      {}};
  const double rate = per_dollar(catalog, currency);
  for (const PriceSeries& one : series) {
    std::vector<double> values;
    for (const auto& point : one.points) values.push_back(point.usd_gpu_hour);
    for (std::size_t i = 0; i < one.points.size(); ++i) {
      const auto& point = one.points[i];
      const bool last = i + 1 == one.points.size();
      std::optional<double> change;
      if (i > 0 && values[i - 1] > 0) change = percent(values[i] / values[i - 1]);
      list.rows.push_back({cell(one.provider), cell(one.gpu), cell(to_string(one.contract)), cell(point.day),
                           cell(std::optional(point.usd_gpu_hour * rate), Unit::money), cell(currency), cell(change),
                           cell(last ? sparkline(values) : std::string()), cell(point.source)});
    }
  }
  list.note = "the lowest price of each day, without VAT, at the rates of the day of the import";
  return list;
}

ListDocument list_differences(const std::vector<PriceDifference>& differences) {
  ListDocument list{"prices diff", {"change", "offer", "before", "after", "percent", "why"}, {}, {}};
  std::array<std::int64_t, 5> counts{};
  for (const PriceDifference& d : differences) {
    ++counts[static_cast<std::size_t>(d.change)];
    list.rows.push_back({cell(to_string(d.change)), cell(d.id), cell(d.before ? shown_price(*d.before) : std::string()),
                         cell(d.after ? shown_price(*d.after) : std::string()), cell(percent(d.ratio)), cell(d.why)});
  }
  list.note = std::to_string(counts[2]) + " moved, " + std::to_string(counts[3]) + " restated, " +
              std::to_string(counts[4]) + " both, " + std::to_string(counts[0]) + " added, " +
              std::to_string(counts[1]) + " removed";
  return list;
}

ListDocument list_findings(const std::vector<LintFinding>& findings) {
  ListDocument list{"prices lint", {"id", "offer", "message"}, {}, {}};
  for (const LintFinding& f : findings) list.rows.push_back({cell(f.id), cell(f.offer), cell(f.message)});
  list.note = findings.empty() ? "nothing to say" : std::to_string(findings.size()) + " findings";
  return list;
}

ListDocument export_stored_offers(const std::vector<StoredOffer>& offers) {
  ListDocument list{"prices export",
                    {"provider",
                     "gpu",
                     "count",
                     "share",
                     "scope",
                     "includes_host",
                     "marketplace",
                     "contract",
                     "term",
                     "term_months",
                     "price",
                     "currency",
                     "unit",
                     "vat",
                     "region",
                     "country",
                     "interconnect",
                     "network_gbit_per_s",
                     "vcpus",
                     "ram_gb",
                     "storage_gb",
                     "gpu_memory_gb",
                     "product",
                     "tier",
                     "model",
                     "input_per_1m",
                     "output_per_1m",
                     "interruption",
                     "savings_percent",
                     "confidence",
                     "rankable",
                     "why_not",
                     "observed_on",
                     "source",
                     "notes"},
                    {},
                    {}};
  for (const StoredOffer& stored : offers) {
    const ImportedOffer& o = stored.offer;
    list.rows.push_back({cell(o.provider),
                         cell(o.gpu),
                         cell(o.count),
                         cell(o.share),
                         cell(to_string(o.scope)),
                         Cell{o.includes_host, Unit::none},
                         Cell{o.marketplace, Unit::none},
                         cell(to_string(o.contract)),
                         cell(o.term),
                         cell(o.term_months),
                         cell(o.price),
                         cell(o.currency),
                         cell(to_string(o.unit)),
                         cell(to_string(o.vat)),
                         cell(o.region),
                         cell(o.country),
                         cell(o.interconnect),
                         cell(o.network_gbit_per_s),
                         cell(o.vcpus),
                         cell(o.ram_gb),
                         cell(o.storage_gb),
                         cell(o.gpu_memory_gb),
                         cell(o.product),
                         cell(o.tier),
                         cell(o.model),
                         cell(o.input_per_1m),
                         cell(o.output_per_1m),
                         cell(o.interruption),
                         cell(o.savings_percent),
                         cell(to_string(o.confidence)),
                         Cell{o.rankable, Unit::none},
                         cell(o.why_not),
                         cell(o.observed_on),
                         cell(o.source),
                         cell(o.notes)});
  }
  return list;
}

}  // namespace gpuplan
