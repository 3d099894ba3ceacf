#pragma once
// The rules of a bulk price list that its CSV and its JSON share.

#include "formats.hpp"

#include <map>
#include <string>
#include <tuple>

namespace gpuplan {

struct AwsProduct {
  std::string type, region, os, tenancy, software, capacity, family;
  std::optional<double> vcpus, ram_gb, gpus, gpu_memory_gb;
};
struct AwsPrice {
  std::string term_type, term_code, unit, currency, lease, option, offering, day;
  std::optional<double> amount;
};

class AwsPrices {
 public:
  explicit AwsPrices(ImportRun& run) : run_(run) {}
  // Whether the product is one we keep; counts it as dropped, with why, when it is not.
  bool wants(const AwsProduct& product);
  void add(const std::string& sku, const AwsProduct& product, const AwsPrice& price);
  // Reserved terms come in two prices, an hour and a sum upfront, anywhere in the list.
  void finish();

 private:
  struct Term {
    ImportedOffer offer;
    double hourly = 0, upfront = 0;
  };
  ImportedOffer offer_of(const AwsProduct& product, const AwsPrice& price);

  ImportRun& run_;
  std::map<std::string, Term> terms_;  // by SKU and code of the term
};

}  // namespace gpuplan
