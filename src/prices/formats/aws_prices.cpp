#include "aws_prices.hpp"

#include "instance_types.hpp"

#include <gpuplan/base/text.hpp>

#include <cmath>

namespace gpuplan {
namespace {

constexpr std::string_view kSeller = "aws";  // product-name: a format
constexpr double kHoursPerYear = 8760;       // as the provider amortises

}  // namespace

bool AwsPrices::wants(const AwsProduct& product) {
  const InstanceType* known = find_instance_type(product.type);
  if (product.type.empty() || (!known && product.gpus.value_or(0) <= 0)) {
    run_.drop("prices.no_gpu", "a product without accelerator");
  } else if (product.os != "Linux") {
    run_.drop("prices.other_system", "another operating system than Linux");
  } else if (product.tenancy != "Shared") {
    run_.drop("prices.other_tenancy", "a dedicated host or dedicated tenancy");
  } else if (!product.software.empty() && product.software != "NA") {
    run_.drop("prices.with_software", "with software that is paid for");
  } else if (!product.capacity.empty() && product.capacity != "Used") {
    run_.drop("prices.capacity_reservation", "the capacity reservation, not the use of it");
  } else {
    return true;
  }
  return false;
}

ImportedOffer AwsPrices::offer_of(const AwsProduct& product, const AwsPrice& price) {
  ImportedOffer offer;
  offer.provider = run_.provider_named(kSeller);
  offer.product = product.type;
  offer.region = product.region;
  offer.vcpus = product.vcpus;
  offer.ram_gb = product.ram_gb;
  offer.currency = price.currency;
  offer.vat = Vat::excluded;  // the list's disclaimer
  offer.confidence = Confidence::published;
  if (const InstanceType* known = find_instance_type(product.type)) {
    offer.interconnect = known->interconnect;
    if (known->count > 0) {
      offer.count = known->count;
      run_.resolve(offer, {known->gpu, std::nullopt, known->count, product.type, false});
    } else {
      offer.gpu = known->gpu;
      offer.share = known->share;
    }
  } else {
    offer.count = std::llround(product.gpus.value_or(1));
    offer.rankable = false;
    offer.why_not = "the list does not say which accelerator '" + product.type + "' has";
    if (product.gpu_memory_gb) offer.gpu_memory_gb = *product.gpu_memory_gb / product.gpus.value_or(1);
  }
  return offer;
}

void AwsPrices::add(const std::string& sku, const AwsProduct& product, const AwsPrice& price) {
  if (price.term_type == "OnDemand") {
    if (price.unit != "Hrs") return run_.drop("prices.other_unit", "a price on demand that is not of an hour");
    ImportedOffer offer = offer_of(product, price);
    offer.price = price.amount;
    offer.observed_on = price.day;
    return run_.keep(std::move(offer));
  }
  if (price.term_type != "Reserved")
    return run_.drop("prices.other_term", "a term that is neither on demand nor reserved");
  const double years = price.lease.starts_with("3") ? 3 : price.lease.starts_with("1") ? 1 : 0;
  if (years <= 0 || !price.amount) return run_.drop("prices.other_term", "a reserved term of another length");
  Term& term = terms_[sku + '.' + price.term_code];
  if (term.offer.provider.empty()) {
    term.offer = offer_of(product, price);
    term.offer.contract = Contract::reserved;
    term.offer.observed_on = price.day;
    term.offer.term_months = years * 12;
    term.offer.term = (years > 1 ? "3 years, " : "1 year, ") + to_lower(price.option) +
                      (price.offering.empty() ? "" : ", " + to_lower(price.offering));
  }
  if (price.unit == "Quantity") {
    term.upfront += *price.amount / (years * kHoursPerYear);
  } else {
    term.hourly += *price.amount;
  }
}

void AwsPrices::finish() {
  for (auto& [key, term] : terms_) {
    if (term.upfront > 0) run_.mend("prices.upfront_amortised", "a sum upfront: spread over the hours of the term");
    term.offer.price = term.hourly + term.upfront;
    run_.keep(std::move(term.offer));
  }
}

}  // namespace gpuplan
