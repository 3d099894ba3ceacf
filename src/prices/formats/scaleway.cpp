// A product catalogue: prices are units plus nanos for a size of a unit (60 minutes, 1 hour).

#include "formats.hpp"

#include <gpuplan/base/text.hpp>

#include <cmath>

namespace gpuplan {
namespace {

using Json = nlohmann::json;
constexpr std::string_view kSeller = "scaleway";  // product-name: a format

const Json* inside(const Json& object, std::initializer_list<const char*> path) {
  const Json* at = &object;
  for (const char* key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

// Hours that the price is for; 0 when the unit is no time.
double hours_of(const Json& product) {
  const Json* measure = inside(product, {"unit_of_measure"});
  if (!measure) return 1;
  const std::string unit = to_lower(list_text(*measure, "unit"));
  const double size = list_number(*measure, "size").value_or(1);
  if (unit == "minute") return size / 60;
  if (unit == "hour" || unit.empty()) return size;
  if (unit == "second") return size / 3600;
  if (unit == "month") return size * 730;
  return 0;
}

void take(ImportRun& run, const Json& product) {
  run.row(list_text(product, "sku"));
  const Json* gpu = inside(product, {"properties", "hardware", "gpu"});
  const auto count = gpu ? list_number(*gpu, "count") : std::nullopt;
  if (!count || *count < 1) return run.drop("prices.no_gpu", "a product without accelerator");
  const Json* price = inside(product, {"price", "retail_price"});
  const double hours = hours_of(product);
  if (!price || hours <= 0) return run.drop("prices.other_unit", "no price for a time");
  ImportedOffer offer;
  offer.provider = run.provider_named(kSeller);
  offer.count = std::llround(*count);
  offer.currency = list_text(*price, "currency_code");
  offer.price = (list_number(*price, "units").value_or(0) + list_number(*price, "nanos").value_or(0) * 1e-9) / hours;
  offer.vat = Vat::excluded;
  offer.confidence = Confidence::published;
  if (const Json* instance = inside(product, {"properties", "instance"}))
    offer.product = list_text(*instance, "offer_id");
  if (offer.product.empty()) offer.product = list_text(product, "product");
  if (const Json* locality = inside(product, {"locality"})) offer.region = list_text(*locality, "zone");
  if (const Json* cpu = inside(product, {"properties", "hardware", "cpu"})) offer.vcpus = list_number(*cpu, "threads");
  if (const Json* ram = inside(product, {"properties", "hardware", "ram"})) {
    if (const auto size = list_number(*ram, "size")) offer.ram_gb = *size / 1e9;
  }
  std::string name = list_text(*gpu, "type");
  if (name.empty()) name = list_text(*gpu, "description");
  run.resolve(offer, {name, std::nullopt, *offer.count, offer.product, false});
  run.keep(std::move(offer));
}

}  // namespace

void read_scaleway(ImportRun& run) {
  bool any = false;
  stream_json(run.text(), {{"products", "*"}, {""}}, [&](const JsonItem& item) {
    if (!item.value.is_object()) return;
    any = true;
    take(run, item.value);
  });
  if (!any) refuse_format(run.text(), "no products in the document", R"({"products": [...]})");
}

}  // namespace gpuplan
