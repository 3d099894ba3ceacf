// What was paid (FOCUS) and what a cluster was told it pays (custom pricing of a cost monitor): hourly prices of instance types.

#include "../literal.hpp"
#include "formats.hpp"
#include "instance_types.hpp"

#include <gpuplan/base/text.hpp>

#include <map>

namespace gpuplan {
namespace {

// The first word of a text that is an instance type we know.
std::string type_in(std::string_view text) {
  for (const std::string& word : split(text, ' ')) {
    if (find_instance_type(word)) return word;
  }
  return {};
}

std::string focus_type(const CsvStream& csv) {
  if (const auto details = parse_literal(csv.at("SkuPriceDetails")); details && details->is_object()) {
    for (const std::string_view key : {"InstanceType", "x_InstanceType"}) {
      if (const std::string type = list_text(*details, key); !type.empty()) return type;
    }
  }
  for (const std::string_view column : {"x_InstanceType", "x_SkuInstanceType", "x_SkuMeterName", "SkuMeter"}) {
    if (const std::string type(csv.at(column)); find_instance_type(type)) return type;
  }
  return type_in(csv.at("ChargeDescription"));
}

void describe(ImportRun& run, ImportedOffer& offer, const InstanceType& type) {
  offer.interconnect = type.interconnect;
  if (type.count > 0) {
    offer.count = type.count;
    run.resolve(offer, {type.gpu, std::nullopt, type.count, offer.product, false});
  } else {
    offer.gpu = type.gpu;
    offer.share = type.share;
  }
}

}  // namespace

void read_focus(ImportRun& run) {
  CsvStream csv(run.text());
  if (!csv.next()) refuse_format(run.text(), "the list has no header", "FOCUS columns");
  csv.take_header();
  require_columns(csv, run.text(), {"ChargeCategory", "BillingCurrency", "ChargePeriodStart", "PricingUnit"});
  std::map<std::string, ImportedOffer> latest;
  while (csv.next()) {
    run.row(at_line(csv));
    if (csv.fields().size() != csv.width()) {
      run.drop("prices.bad_row", "another number of fields than the header");
      continue;
    }
    const std::string unit = to_lower(csv.at("PricingUnit"));
    const std::string type = focus_type(csv);
    const InstanceType* known = find_instance_type(type);
    auto price = list_number(csv.at("ContractedUnitPrice"));
    if (!price || *price <= 0) price = list_number(csv.at("ListUnitPrice"));
    if (csv.at("ChargeCategory") != "Usage") {
      run.drop("prices.no_usage", "a purchase, tax, credit or adjustment");
    } else if (!known) {
      run.drop("prices.no_gpu", "not of a machine with an accelerator that we know");
    } else if (unit != "hours" && unit != "hour" && unit != "hrs") {
      run.drop("prices.other_unit", "a unit that is not an hour");
    } else if (!price || *price <= 0) {
      run.drop("prices.no_price", "no unit price");
    } else {
      ImportedOffer offer;
      std::string_view seller = csv.at("ProviderName");
      if (seller.empty()) seller = csv.at("ServiceProviderName");
      offer.provider = seller.empty() ? run.required_provider() : run.provider_named(seller);
      offer.product = type;
      offer.region = csv.at("RegionId");
      offer.currency = csv.at("BillingCurrency");
      offer.price = price;
      offer.observed_on = day_of(csv.at("ChargePeriodStart"));
      offer.confidence = Confidence::published;
      offer.notes = "unit price of a bill";
      const std::string_view category = csv.at("PricingCategory");
      if (category == "Dynamic") offer.contract = Contract::spot;
      if (category == "Committed") offer.contract = Contract::reserved;
      describe(run, offer, *known);
      ImportedOffer& kept = latest[identity_of(offer)];
      if (!kept.provider.empty()) run.mend("prices.rows_joined", "hours of one price: the latest day counts");
      if (kept.provider.empty() || kept.observed_on <= offer.observed_on) kept = std::move(offer);
    }
  }
  for (auto& [key, offer] : latest) run.keep(std::move(offer));
}

void read_opencost(ImportRun& run) {
  CsvStream csv(run.text());
  if (!csv.next()) refuse_format(run.text(), "the list has no header", "custom pricing columns");
  csv.take_header();
  require_columns(csv, run.text(), {"InstanceID", "AssetClass", "MarketPriceHourly"});
  const std::string provider = run.required_provider();
  while (csv.next()) {
    run.row(at_line(csv));
    if (csv.fields().size() != csv.width()) {
      run.drop("prices.bad_row", "another number of fields than the header");
      continue;
    }
    const std::string asset = to_lower(csv.at("AssetClass"));
    ImportedOffer offer;
    offer.provider = provider;
    offer.region = csv.at("Region");
    offer.price = list_number(csv.at("MarketPriceHourly"));
    offer.observed_on = day_of(csv.at("EndTimestamp"));
    offer.product = csv.at("InstanceType").empty() ? csv.at("InstanceID") : csv.at("InstanceType");
    if (asset == "gpu") {
      offer.scope = PriceScope::gpu;
      offer.count = 1;
      offer.includes_host = false;
      const std::string name(csv.at("InstanceID"));
      run.resolve(offer, {name, std::nullopt, 1, "", false});
      offer.rankable = false;
      if (offer.why_not.empty()) offer.why_not = "the price is the accelerator's alone";
    } else if (asset == "node") {
      const InstanceType* known = find_instance_type(offer.product);
      if (!known) {
        run.drop("prices.no_gpu", "not of a machine with an accelerator that we know");
        continue;
      }
      describe(run, offer, *known);
    } else {
      run.drop("prices.no_gpu", "neither node nor gpu");
      continue;
    }
    run.keep(std::move(offer));
  }
}

}  // namespace gpuplan
