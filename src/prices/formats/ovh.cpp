// An order catalogue: prices are whole numbers of 1e-8 of the currency, tax beside them. Plans of one machine by the hour and
// by the month are offers of their own.

#include "formats.hpp"

#include <gpuplan/base/text.hpp>

#include <cmath>

namespace gpuplan {
namespace {

using Json = nlohmann::json;
constexpr std::string_view kSeller = "ovhcloud";  // product-name: a format
constexpr double kPriceUnit = 1e-8;

std::string currency_in(const std::string& shown) {
  if (shown.find("\u20ac") != std::string::npos) return "EUR";
  if (shown.find("\u00a3") != std::string::npos) return "GBP";
  if (shown.find("z\u0142") != std::string::npos) return "PLN";
  if (shown.find('$') != std::string::npos) return "USD";
  return {};
}

void take(ImportRun& run, const Json& addon, const std::string& currency) {
  const std::string plan = list_text(addon, "planCode");
  run.row(plan);
  const Json technical = addon.value(Json::json_pointer("/blobs/technical"), Json::object());
  const auto gpu = technical.find("gpu");
  if (gpu == technical.end() || !gpu->is_object()) return run.drop("prices.no_gpu", "a plan without accelerator");
  const auto count = list_number(*gpu, "number");
  ImportedOffer offer;
  offer.provider = run.provider_named(kSeller);
  offer.product = list_text(addon, "invoiceName");
  if (offer.product.empty()) offer.product = plan;
  offer.count = count && *count >= 1 ? std::llround(*count) : 1;
  offer.vat = Vat::excluded;
  offer.confidence = Confidence::published;
  if (const auto cpu = technical.find("cpu"); cpu != technical.end()) offer.vcpus = list_number(*cpu, "cores");
  if (const auto ram = technical.find("memory"); ram != technical.end()) offer.ram_gb = list_number(*ram, "size");
  GpuClaim claim{list_text(*gpu, "model"), std::nullopt, *offer.count, offer.product, false};
  if (const auto memory = gpu->find("memory"); memory != gpu->end()) claim.memory_gib = list_number(*memory, "size");
  run.resolve(offer, claim);
  bool any = false;
  for (const Json& pricing : addon.value("pricings", Json::array())) {
    const std::string unit = list_text(pricing, "intervalUnit");
    const auto price = list_number(pricing, "price");
    const double interval = list_number(pricing, "interval").value_or(1);
    if (!price || interval <= 0 || (unit != "hour" && unit != "month")) continue;
    ImportedOffer own = offer;
    own.price = *price * kPriceUnit / interval;
    own.unit = unit == "hour" ? PriceUnit::hour : PriceUnit::month;
    own.contract = unit == "hour" ? Contract::on_demand : Contract::reserved;
    if (unit == "month") own.term = "1 month";
    if (unit == "month") own.term_months = 1;
    own.currency = currency.empty() ? currency_in(list_text(pricing, "formattedPrice")) : currency;
    any = true;
    run.keep(std::move(own));
  }
  if (any) {
    run.mend("prices.scaled_price", "prices are in 1e-8 of the currency");
  } else {
    run.drop("prices.other_unit", "no price for an hour or a month");
  }
}

}  // namespace

void read_ovh(ImportRun& run) {
  bool any = false;
  std::string currency;
  stream_json(run.text(), {{"addons", "*"}, {"locale", "currencyCode"}}, [&](const JsonItem& item) {
    if (item.pattern == 1) {
      if (item.value.is_string()) currency = item.value.get<std::string>();
    } else if (item.value.is_object()) {
      any = true;
      take(run, item.value, currency);
    }
  });
  if (!any) refuse_format(run.text(), "no addons in the document", R"({"addons": [...]})");
}

}  // namespace gpuplan
