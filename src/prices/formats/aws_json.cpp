// The bulk price list of EC2 as JSON: products first, then their terms; only products with an accelerator are remembered.
// Also answers of GetProducts: one item, or {"PriceList": [...]} with items as objects or as texts of JSON.

#include "aws_prices.hpp"

#include <gpuplan/base/text.hpp>

#include <unordered_map>

namespace gpuplan {
namespace {

using Json = nlohmann::json;

std::optional<double> leading_number(const std::string& text) {
  std::string digits;
  for (const char c : text.substr(0, text.find(' '))) {
    if (c != ',') digits += c;
  }
  return list_number(std::string_view(digits));
}

AwsProduct product_of(const Json& value) {
  AwsProduct product;
  const auto found = value.find("attributes");
  if (found == value.end()) return product;
  const Json& a = *found;
  product.type = list_text(a, "instanceType");
  product.region = list_text(a, "regionCode");
  if (product.region.empty()) product.region = list_text(a, "location");
  product.os = list_text(a, "operatingSystem");
  product.tenancy = list_text(a, "tenancy");
  product.software = list_text(a, "preInstalledSw");
  product.capacity = list_text(a, "capacitystatus");
  product.vcpus = list_number(a, "vcpu");
  product.ram_gb = leading_number(list_text(a, "memory"));
  if (product.ram_gb) *product.ram_gb *= gibibytes(1) / gigabytes(1);
  product.gpus = list_number(a, "gpu");
  product.gpu_memory_gb = leading_number(list_text(a, "gpuMemory"));
  return product;
}

class AwsJsonReader {
 public:
  explicit AwsJsonReader(ImportRun& run) : run_(run), prices_(run) {}

  void read() {
    stream_json(run_.text(),
                {{"publicationDate"}, {"products", "*"}, {"terms", "*", "*"}, {"product"}, {"PriceList", "*"}, {""}},
                [this](const JsonItem& item) { take(item); });
    if (!any_) refuse_format(run_.text(), "no products in the document", R"({"products": {...}, "terms": {...}})");
    prices_.finish();
  }

 private:
  void take(const JsonItem& item) {
    switch (item.pattern) {
      case 0:
        if (item.value.is_string()) published_ = day_of(item.value.get<std::string>());
        break;
      case 1:
      case 3:
        take_product(item.value);
        break;
      case 2:
        take_terms(item.path[1], item.value);
        break;
      default:
        take_answer(item.value);
    }
  }
  void take_product(const Json& value) {
    any_ = true;
    const std::string sku = list_text(value, "sku");
    run_.row(sku);
    AwsProduct product = product_of(value);
    if (prices_.wants(product)) products_.emplace(sku, std::move(product));
  }
  void take_terms(const std::string& type, const Json& value) {
    if (!any_) refuse_format(run_.text(), "terms stand before products", "products first");
    if (!value.is_object()) return;
    if (value.contains("priceDimensions")) return take_term(type, value);
    for (const Json& term : value) take_term(type, term);
  }
  void take_term(const std::string& type, const Json& term) {
    const std::string sku = list_text(term, "sku");
    const auto product = products_.find(sku);
    if (product == products_.end() || !term.contains("priceDimensions")) return;
    for (const Json& dimension : term["priceDimensions"]) {
      AwsPrice price;
      price.term_type = type;
      price.term_code = list_text(term, "offerTermCode");
      price.unit = list_text(dimension, "unit");
      price.day = published_.empty() ? day_of(list_text(term, "effectiveDate")) : published_;
      if (const auto attributes = term.find("termAttributes"); attributes != term.end()) {
        price.lease = list_text(*attributes, "LeaseContractLength");
        price.option = list_text(*attributes, "PurchaseOption");
        price.offering = list_text(*attributes, "OfferingClass");
      }
      if (const auto amounts = dimension.find("pricePerUnit"); amounts != dimension.end() && amounts->is_object()) {
        for (const auto& [currency, amount] : amounts->items()) {
          price.currency = currency;
          price.amount = list_number(amount);
        }
      }
      prices_.add(sku, product->second, price);
    }
  }
  void take_answer(const Json& value) {
    if (value.is_string()) {
      const Json inner = Json::parse(value.get_ref<const std::string&>(), nullptr, false);
      if (inner.is_object()) take_answer(inner);
      return;
    }
    if (!value.is_object() || !value.contains("product")) return;
    take_product(value["product"]);
    if (const auto terms = value.find("terms"); terms != value.end() && terms->is_object()) {
      for (const auto& [type, of_type] : terms->items()) take_terms(type, of_type);
    }
  }

  ImportRun& run_;
  AwsPrices prices_;
  std::string published_;
  std::unordered_map<std::string, AwsProduct> products_;
  bool any_ = false;
};

}  // namespace

void read_aws_json(ImportRun& run) { AwsJsonReader(run).read(); }

}  // namespace gpuplan
