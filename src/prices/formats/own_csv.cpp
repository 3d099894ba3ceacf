// Our own CSV: the columns of docs/PRICES.md, by name and in any order. `prices export` writes it; a table of prices that a
// person keeps reads as well, by the other names of its columns.

#include "formats.hpp"

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <cmath>

namespace gpuplan {
namespace {

class Row {
 public:
  explicit Row(const CsvStream& csv) : csv_(csv) {}
  [[nodiscard]] std::string_view text(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (const std::string_view found = csv_.at(name); !found.empty()) return found;
    }
    return {};
  }
  // A number; `bad` becomes true when there is text that is none.
  std::optional<double> number(std::initializer_list<std::string_view> names, bool& bad) const {
    const std::string_view found = text(names);
    if (found.empty()) return std::nullopt;
    const auto value = parse_non_negative(found);
    if (!value.value) bad = true;
    return value.value;
  }

 private:
  const CsvStream& csv_;
};

std::optional<Contract> contract_of(std::string_view word) {
  if (word.empty()) return Contract::on_demand;
  if (word == "api") return Contract::token_api;
  return parse_contract(word).value;
}

std::optional<Vat> vat_of(std::string_view word) {
  if (word.empty() || word == "unknown") return Vat::unknown;
  if (word == "included" || word == "yes" || word == "true") return Vat::included;
  if (word == "excluded" || word == "no" || word == "false") return Vat::excluded;
  return std::nullopt;
}

std::optional<double> months_of(std::string_view term) {
  const std::size_t blank = term.find_first_of(" -");
  if (blank == std::string_view::npos) return std::nullopt;
  const auto number = parse_non_negative(term.substr(0, blank));
  const std::string_view unit = trim(term.substr(blank + 1));
  if (!number.value) return std::nullopt;
  if (unit.starts_with("month")) return number.value;
  if (unit.starts_with("year")) return *number.value * 12;
  return std::nullopt;
}

std::optional<bool> flag_of(std::string_view word, bool fallback) {
  if (word.empty()) return fallback;
  return parse_bool(word).value;
}

// Money per unit of the row; false when the unit is of something that is no offer (storage, traffic).
bool take_price(const Row& row, ImportedOffer& offer, std::string_view& why, bool& bad) {
  const std::string_view unit = row.text({"unit"});
  const auto price = row.number({"price"}, bad);
  if (unit == "1M_input_tokens" || unit == "1M_output_tokens") {
    (unit == "1M_input_tokens" ? offer.input_per_1m : offer.output_per_1m) = price;
    offer.contract = Contract::token_api;
    if (offer.model.empty()) offer.model = offer.product;
    return true;
  }
  offer.price = price;
  if (unit.empty() || unit == "hour") {
    offer.unit = PriceUnit::hour;
  } else if (unit == "second") {
    offer.unit = PriceUnit::second;
  } else if (unit == "month") {
    offer.unit = PriceUnit::month;
  } else {
    why = unit == "GB_month" || unit == "GB" ? "storage or traffic, no offer" : "unknown unit";
    return false;
  }
  return true;
}

// Why the row cannot be read; empty when it was.
std::string_view take_row(const Row& row, ImportRun& run, ImportedOffer& offer) {
  bool bad = false;
  const std::string_view seller = row.text({"provider"});
  offer.provider = seller.empty() ? run.required_provider() : run.provider_named(seller);
  const auto contract = contract_of(row.text({"contract", "kind"}));
  if (!contract) return "unknown contract";
  offer.contract = *contract;
  const auto vat = vat_of(row.text({"vat", "vat_included"}));
  if (!vat) return "vat is neither included nor excluded";
  offer.vat = *vat;
  offer.product = row.text({"product"});
  offer.model = row.text({"model"});
  offer.tier = row.text({"tier"});
  offer.term = row.text({"term"});
  offer.term_months = row.number({"term_months"}, bad);
  if (!offer.term_months) offer.term_months = months_of(offer.term);
  offer.region = row.text({"region"});
  offer.country = row.text({"country"});
  offer.interconnect = to_lower(row.text({"interconnect", "gpu_interconnect"}));
  offer.network_gbit_per_s = row.number({"network_gbit_per_s", "node_network_gbps"}, bad);
  offer.vcpus = row.number({"vcpus"}, bad);
  offer.ram_gb = row.number({"ram_gb"}, bad);
  offer.storage_gb = row.number({"storage_gb", "local_storage_gb"}, bad);
  offer.gpu_memory_gb = row.number({"gpu_memory_gb"}, bad);
  offer.input_per_1m = row.number({"input_per_1m"}, bad);
  offer.output_per_1m = row.number({"output_per_1m"}, bad);
  offer.share = row.number({"share"}, bad);
  offer.interruption = row.text({"interruption"});
  if (const auto savings = parse_number(row.text({"savings_percent"})); savings.value)
    offer.savings_percent = savings.value;
  if (const std::string_view currency = row.text({"currency"}); !currency.empty()) offer.currency = currency;
  offer.source = row.text({"source", "source_url"});
  offer.notes = row.text({"notes", "note"});
  offer.observed_on = row.text({"observed_on"});
  if (!offer.observed_on.empty() && !parse_date(offer.observed_on).value) return "observed_on is no day";
  const std::string_view scope = row.text({"scope"});
  if (!scope.empty() && scope != "gpu" && scope != "instance") return "scope is neither gpu nor instance";
  offer.scope = scope == "gpu" ? PriceScope::gpu : PriceScope::instance;
  const auto includes_host = flag_of(row.text({"includes_host"}), true);
  const auto marketplace = flag_of(row.text({"marketplace"}), false);
  const auto rankable = flag_of(row.text({"rankable"}), true);
  if (!includes_host || !marketplace || !rankable) return "a word that is neither true nor false";
  offer.includes_host = *includes_host;
  offer.marketplace = *marketplace;
  offer.rankable = *rankable;
  offer.why_not = row.text({"why_not"});
  const std::string_view confidence = row.text({"confidence"});
  if (confidence == "published") offer.confidence = Confidence::published;
  if (confidence == "second_hand" || offer.notes.find("second-hand") != std::string::npos)
    offer.confidence = Confidence::second_hand;
  const auto count = row.number({"count", "gpu_count"}, bad);
  if (count && *count >= 1 && *count <= 1e6 && std::floor(*count) >= *count)
    offer.count = static_cast<std::int64_t>(*count);
  if (count && !offer.count && *count > 0 && *count < 1) offer.share = count;
  std::string_view why;
  if (!take_price(row, offer, why, bad)) return why;
  if (bad) return "a number that is none";
  return {};
}

}  // namespace

void read_own_csv(ImportRun& run) {
  CsvStream csv(run.text());
  if (!csv.next()) refuse_format(run.text(), "the list has no header", "docs/PRICES.md, our own CSV");
  csv.take_header();
  require_columns(csv, run.text(), {"price", "currency"});
  while (csv.next()) {
    run.row(at_line(csv));
    if (csv.fields().size() != csv.width()) {
      run.drop("prices.bad_row", "another number of fields than the header");
      continue;
    }
    const Row row(csv);
    ImportedOffer offer;
    if (const std::string_view why = take_row(row, run, offer); !why.empty()) {
      run.drop("prices.bad_row", why);
      continue;
    }
    const std::string name(row.text({"gpu"}));
    if (!name.empty() && offer.share.value_or(1) >= 1) {
      run.resolve(offer, {name, offer.gpu_memory_gb, offer.count.value_or(1), offer.interconnect, false, offer.product});
    } else {
      offer.gpu = name;
    }
    run.keep(std::move(offer));
  }
}

}  // namespace gpuplan
