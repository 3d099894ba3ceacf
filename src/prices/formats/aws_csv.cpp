// The bulk price list of EC2 as CSV: five rows about the list, then the header. Products without accelerator are most of it.

#include "aws_prices.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

constexpr int kMostRowsBeforeHeader = 30;

std::optional<double> leading_number(std::string_view text) {
  std::string digits;
  for (const char c : text.substr(0, text.find(' '))) {
    if (c != ',') digits += c;
  }
  return list_number(std::string_view(digits));
}

}  // namespace

void read_aws_csv(ImportRun& run) {
  CsvStream csv(run.text());
  std::string published;
  bool has_header = false;
  for (int i = 0; i < kMostRowsBeforeHeader && !has_header && csv.next(); ++i) {
    const auto& fields = csv.fields();
    if (fields.size() > 1 && fields[0] == "Publication Date") published = day_of(fields[1]);
    has_header = std::find(fields.begin(), fields.end(), "PricePerUnit") != fields.end();
  }
  if (!has_header)
    refuse_format(run.text(), "no header in the first 30 rows", "a row with SKU, TermType, PricePerUnit, …");
  csv.take_header();
  require_columns(
      csv, run.text(),
      {"SKU", "TermType", "Unit", "PricePerUnit", "Currency", "Instance Type", "Operating System", "Tenancy"});
  AwsPrices prices(run);
  while (csv.next()) {
    run.row(at_line(csv));
    if (csv.fields().size() != csv.width()) {
      run.drop("prices.bad_row", "another number of fields than the header");
      continue;
    }
    AwsProduct product;
    product.type = csv.at("Instance Type");
    product.os = csv.at("Operating System");
    product.tenancy = csv.at("Tenancy");
    product.software = csv.at("Pre Installed S/W");
    product.capacity = csv.at("CapacityStatus");
    product.gpus = list_number(csv.at("GPU"));
    if (!prices.wants(product)) continue;
    product.region = csv.at("Region Code").empty() ? csv.at("Location") : csv.at("Region Code");
    product.vcpus = list_number(csv.at("vCPU"));
    product.ram_gb = leading_number(csv.at("Memory"));
    if (product.ram_gb) *product.ram_gb *= gibibytes(1) / gigabytes(1);
    product.gpu_memory_gb = leading_number(csv.at("GPU Memory"));
    AwsPrice price;
    price.term_type = csv.at("TermType");
    price.term_code = csv.at("OfferTermCode");
    price.unit = csv.at("Unit");
    price.currency = csv.at("Currency");
    price.lease = csv.at("LeaseContractLength");
    price.option = csv.at("PurchaseOption");
    price.offering = csv.at("OfferingClass");
    price.amount = list_number(csv.at("PricePerUnit"));
    price.day = published.empty() ? day_of(csv.at("EffectiveDate")) : published;
    prices.add(std::string(csv.at("SKU")), product, price);
  }
  prices.finish();
}

}  // namespace gpuplan
