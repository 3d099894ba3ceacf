#include "formats.hpp"

namespace gpuplan {
namespace {

constexpr std::string_view kSeller = "--provider NAME, unless the file is named after it";

constexpr PriceFormat kFormats[] = {
    {"csv", "our own CSV (docs/PRICES.md), which 'prices export' writes", "csv", "", read_own_csv},
    {"skypilot", "SkyPilot catalogue, vms.csv of one cloud, v5 to v9", "csv", kSeller, read_skypilot},
    {"gpuhunt", "gpuhunt catalogue, one provider", "csv", kSeller, read_gpuhunt},
    {"vast", "Vast.ai offers (search answer)", "json", "", read_vast},      // product-name: a format
    {"runpod", "RunPod GraphQL answer gpuTypes", "json", "", read_runpod},  // product-name: a format
    {"aws", "AWS bulk price list of EC2, CSV", "csv", "", read_aws_csv},    // product-name: a format
    {"aws-json", "AWS bulk price list of EC2, JSON", "json", "", read_aws_json},
    {"aws-spot-advisor", "AWS Spot Advisor: interruption bands and savings, no prices", "json", "", read_spot_advisor},
    {"azure", "Azure Retail Prices, pages of items", "json", "", read_azure},  // product-name: a format
    {"gcp", "Google Cloud Billing catalogue, SKUs of Compute Engine", "json", "", read_gcp},
    {"scaleway", "Scaleway product catalogue", "json", "", read_scaleway},  // product-name: a format
    {"ovh", "OVHcloud order catalogue", "json", "", read_ovh},              // product-name: a format
    {"litellm", "LiteLLM table of token prices", "json", "", read_litellm},
    {"models.dev", "models.dev api.json: token prices by provider", "json", "", read_models_dev},
    {"focus", "FOCUS 1.x cost and usage rows: what was paid for an hour", "csv", "", read_focus},
    {"opencost", "OpenCost custom pricing", "csv", "--provider NAME", read_opencost},
};

}  // namespace

std::span<const PriceFormat> price_formats() { return kFormats; }

void refuse_format(const PriceText& text, std::string message, std::string expected) {
  throw InputError(
      Problem{"prices.not_this_format", std::move(message), Place{text.origin(), 0, 0}, std::move(expected), {}, {}});
}

void require_columns(const CsvStream& csv, const PriceText& text, std::initializer_list<std::string_view> columns) {
  std::string missing;
  std::string all;
  for (const std::string_view column : columns) {
    all += (all.empty() ? "" : ", ") + std::string(column);
    if (!csv.has(column)) missing += (missing.empty() ? "'" : ", '") + std::string(column) + "'";
  }
  if (!missing.empty()) refuse_format(text, "the header has no " + missing, "a header with " + all);
}

std::string at_line(const CsvStream& csv) { return "line " + std::to_string(csv.line()); }

}  // namespace gpuplan
