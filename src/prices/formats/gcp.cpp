// SKUs of a billing catalogue: accelerator, cores and memory of a machine are priced apart, each for all regions of a group.
// Prices are units plus nanos. An offer is a machine: GPUs, cores and GiB of one machine family, added; a price for several
// regions is that of each.

#include "formats.hpp"

#include <gpuplan/base/text.hpp>

#include <map>
#include <tuple>
#include <vector>

namespace gpuplan {
namespace {

using Json = nlohmann::json;
constexpr std::string_view kSeller = "gcp";  // product-name: a format

// The machine that goes with one GPU: the machine family as the SKUs call it, cores and GiB a GPU. From the provider's page of
// machine types; of families where cores can be chosen, the least.
struct Machine {
  std::string_view gpu;     // in the SKU's description
  std::string_view name;    // in the catalogue
  std::string_view family;  // "A2 Instance Core running in …"
  double cores, gib;
  std::string_view product;
};
constexpr Machine kMachines[] = {
    {"A100 80GB", "A100-SXM4-80GB", "A2 ", 12, 170, "a2-ultragpu-1g"},          // product-name: a format
    {"A100", "A100-SXM4-40GB", "A2 ", 12, 85, "a2-highgpu-1g"},                 // product-name: a format
    {"H100 80GB Mega", "H100-SXM5-80GB", "A3Plus ", 26, 234, "a3-megagpu-8g"},  // product-name: a format
    {"H100 80GB", "H100-SXM5-80GB", "A3 ", 26, 234, "a3-highgpu-1g"},           // product-name: a format
    {"L4", "L4", "G2 ", 4, 16, "g2-standard-4"},
    {"T4", "T4", "N1 Predefined ", 4, 15, "n1-standard-4"},
    {"V100", "V100-SXM2-16GB", "N1 Predefined ", 8, 30, "n1-standard-8"},        // product-name: a format
    {"P100", "Tesla-P100-PCIe-16GB", "N1 Predefined ", 8, 30, "n1-standard-8"},  // product-name: a format
    {"P4", "Tesla-P4", "N1 Predefined ", 8, 30, "n1-standard-8"},                // product-name: a format
    {"K80", "Tesla-K80", "N1 Predefined ", 8, 30, "n1-standard-8"},              // product-name: a format
};

struct Rate {
  std::optional<double> amount;
  std::string currency, day;
};

// Units plus nanos of the last tier's price (the first may be a free allowance), for an hour.
Rate rate_of(const Json& sku) {
  Rate rate;
  const auto infos = sku.find("pricingInfo");
  if (infos == sku.end() || !infos->is_array() || infos->empty()) return rate;
  const Json& info = infos->back();
  const auto expression = info.find("pricingExpression");
  if (expression == info.end() || !expression->contains("tieredRates") || (*expression)["tieredRates"].empty())
    return rate;
  const std::string unit = list_text(*expression, "usageUnit");
  if (unit != "h" && !unit.ends_with(".h")) return rate;
  const Json& tier = (*expression)["tieredRates"].back();
  const auto price = tier.find("unitPrice");
  if (price == tier.end()) return rate;
  rate.amount = list_number(*price, "units").value_or(0) + list_number(*price, "nanos").value_or(0) * 1e-9;
  rate.currency = list_text(*price, "currencyCode");
  rate.day = day_of(list_text(info, "effectiveTime"));
  return rate;
}

class SkuReader {
 public:
  explicit SkuReader(ImportRun& run) : run_(run) {}

  void read() {
    bool any = false;
    stream_json(run_.text(), {{"skus", "*"}, {""}}, [&](const JsonItem& item) {
      if (!item.value.is_object()) return;
      any = true;
      take(item.value);
    });
    if (!any) refuse_format(run_.text(), "no SKUs in the document", R"({"skus": [...]})");
    for (const Gpu& gpu : gpus_) give(gpu);
  }

 private:
  struct Gpu {
    std::string description, usage, where;
    std::vector<std::string> regions;
    Rate rate;
  };
  using PartKey = std::tuple<std::string, std::string, std::string, std::string>;  // family, core or ram, usage, region

  void take(const Json& sku) {
    const std::string description = list_text(sku, "description");
    run_.row(list_text(sku, "skuId"));
    const auto category = sku.find("category");
    if (category == sku.end()) return run_.drop("prices.bad_row", "an SKU without category");
    const std::string group = list_text(*category, "resourceGroup");
    const std::string usage = list_text(*category, "usageType");
    const Rate rate = rate_of(sku);
    std::vector<std::string> regions;
    if (const auto listed = sku.find("serviceRegions"); listed != sku.end() && listed->is_array()) {
      for (const Json& region : *listed) {
        if (region.is_string()) regions.push_back(region.get<std::string>());
      }
    }
    if (!rate.amount) return run_.drop("prices.other_unit", "no price for an hour");
    if (group == "GPU") {
      gpus_.push_back({description, usage, list_text(sku, "skuId"), regions, rate});
      return;
    }
    const bool core = description.find(" Core ") != std::string::npos;
    const bool ram = description.find(" Ram ") != std::string::npos;
    if (!core && !ram) return run_.drop("prices.no_gpu", "neither accelerator nor part of a machine");
    bool used = false;
    for (const Machine& machine : kMachines) {
      const std::size_t at = description.find(machine.family);
      if (at != 0 && !description.starts_with("Spot Preemptible " + std::string(machine.family))) continue;
      for (const std::string& region : regions) {
        parts_[{std::string(machine.family), core ? "core" : "ram", usage, region}] = *rate.amount;
      }
      used = true;
      break;
    }
    run_.drop(used ? "prices.host_row" : "prices.no_gpu",
              used ? "cores or memory: added to the accelerators of their machines"
                   : "cores or memory of a machine without accelerator");
  }

  void give(const Gpu& gpu) {
    const Machine* machine = nullptr;
    for (const Machine& candidate : kMachines) {
      if (gpu.description.find(candidate.gpu) != std::string::npos && !machine) machine = &candidate;
    }
    ImportedOffer offer;
    offer.provider = run_.provider_named(kSeller);
    offer.scope = PriceScope::gpu;
    offer.count = 1;
    offer.currency = gpu.rate.currency.empty() ? "USD" : gpu.rate.currency;
    offer.observed_on = gpu.rate.day;
    offer.confidence = Confidence::published;
    offer.product = machine ? std::string(machine->product) : gpu.description;
    if (gpu.usage == "Preemptible" || gpu.usage == "Spot") offer.contract = Contract::spot;
    if (gpu.usage.starts_with("Commit")) {
      offer.contract = Contract::reserved;
      offer.term_months = gpu.usage.find('3') != std::string::npos ? 36 : 12;
      offer.term = gpu.usage.find('3') != std::string::npos ? "3 years" : "1 year";
    }
    run_.resolve(offer,
                 {machine ? std::string(machine->name) : gpu.description, std::nullopt, 1, offer.product, false});
    if (gpu.regions.size() > 1)
      run_.mend("prices.one_price_for_regions", "one price for several regions: given to each");
    for (const std::string& region : gpu.regions) {
      ImportedOffer own = offer;
      own.region = region;
      own.price = gpu.rate.amount;
      add_host(gpu, machine, region, own);
      run_.keep(std::move(own));
    }
    if (gpu.regions.empty()) run_.drop("prices.bad_row", "an SKU without regions");
  }

  void add_host(const Gpu& gpu, const Machine* machine, const std::string& region, ImportedOffer& offer) {
    const auto part = [&](const char* kind) -> std::optional<double> {
      const auto found = machine ? parts_.find({std::string(machine->family), kind, gpu.usage, region}) : parts_.end();
      return found == parts_.end() ? std::nullopt : std::optional(found->second);
    };
    const auto core = part("core");
    const auto ram = part("ram");
    if (core && ram) {
      *offer.price += machine->cores * *core + machine->gib * *ram;
      offer.vcpus = machine->cores;
      offer.ram_gb = machine->gib * gibibytes(1) / gigabytes(1);
      run_.mend("prices.host_added", "accelerator, cores and memory are priced apart: added");
      return;
    }
    offer.includes_host = false;
    offer.rankable = false;
    offer.why_not = "the price is the accelerator's alone, and the list has no host for it";
  }

  ImportRun& run_;
  std::vector<Gpu> gpus_;
  std::map<PartKey, double> parts_;
};

}  // namespace

void read_gcp(ImportRun& run) { SkuReader(run).read(); }

}  // namespace gpuplan
