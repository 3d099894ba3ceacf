// SkyPilot's catalogue: one CSV a cloud, columns by name. What its rows are known to hold:
//  - GpuInfo is a Python literal, JSON, a bare name or nothing; Count in it may be a text; SizeInMiB may be GB, a sum over
//    the GPUs, or multiplied by their number twice;
//  - a price that is empty or 0.00 is not known; SpotPrice beside Price makes a second offer;
//  - AcceleratorCount below 1 is a part of a GPU (with Count 0 in GpuInfo), 0 is a machine without any;
//  - rows without InstanceType price the accelerator alone, to be added to the row of its host;
//  - a zone a row: rows that differ in the zone alone become one, at the lowest price;
//  - CRLF, columns in any order, commas in a text that is not quoted.

#include "../literal.hpp"
#include "formats.hpp"
#include "instance_types.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace gpuplan {
namespace {

struct GpuInfo {
  std::string name;
  std::optional<double> memory_gib;  // of one GPU, as it says
  double count = 0;
};

GpuInfo gpu_info(std::string_view text) {
  GpuInfo info;
  const auto parsed = parse_literal(text);
  if (!parsed || !parsed->is_object()) return info;
  const auto gpus = parsed->find("Gpus");
  if (gpus == parsed->end() || !gpus->is_array() || gpus->empty() || !gpus->front().is_object()) return info;
  const auto& first = gpus->front();
  info.name = list_text(first, "Name");
  info.count = list_number(first, "Count").value_or(0);
  if (const auto memory = first.find("MemoryInfo"); memory != first.end()) {
    if (const auto size = list_number(*memory, "SizeInMiB"); size && *size > 0) info.memory_gib = *size / 1024;
  }
  return info;
}

struct Prices {
  std::optional<double> price, spot;
};

class SkypilotReader {
 public:
  explicit SkypilotReader(ImportRun& run) : run_(run), csv_(run.text()), provider_(run.required_provider()) {}

  void read() {
    if (!csv_.next()) refuse_format(run_.text(), "the list has no header", "a catalogue's vms.csv");
    csv_.take_header();
    require_columns(csv_, run_.text(), {"InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region"});
    while (csv_.next()) read_row();
    join_parts();
    for (auto& [key, offer] : offers_) run_.keep(std::move(offer));
  }

 private:
  void read_row() {
    run_.row(at_line(csv_));
    if (csv_.fields().size() > csv_.width()) {
      if (!csv_.mend_surplus({"Generation", "AvailabilityZone", "Region", "GpuInfo"},
                             {"Price", "SpotPrice", "vCPUs", "MemoryGiB", "AcceleratorCount"})) {
        return run_.drop("prices.bad_row", "more fields than the header");
      }
      run_.mend("prices.comma_in_text", "a comma in a text that is not quoted: put back");
    } else if (csv_.fields().size() < csv_.width()) {
      return run_.drop("prices.bad_row", "fewer fields than the header");
    }
    const std::string type(csv_.at("InstanceType"));
    const double count = list_number(csv_.at("AcceleratorCount")).value_or(0);
    const bool has_gpu = !csv_.at("AcceleratorName").empty() && count > 0;
    if (!has_gpu && !is_host_type(type)) return run_.drop("prices.no_gpu", "a machine without accelerator");
    if (type.empty()) return remember_part(count);
    if (!has_gpu || (is_host_type(type) && !parts_.empty())) return remember_host(type);
    const auto [offer, prices] = offer_of(type, count);
    add(offer, prices);
  }

  // Zero and nothing are one: not known.
  [[nodiscard]] std::optional<double> price_in(std::string_view column) const {
    const auto price = list_number(csv_.at(column));
    return price && *price > 0 ? price : std::nullopt;
  }
  [[nodiscard]] Prices prices() const { return {price_in("Price"), price_in("SpotPrice")}; }

  std::pair<ImportedOffer, Prices> offer_of(const std::string& type, double count) {
    ImportedOffer offer;
    offer.provider = provider_;
    offer.product = type;
    offer.region = csv_.at("Region");
    offer.country = upper_country(offer.region);
    offer.vcpus = list_number(csv_.at("vCPUs"));
    if (const auto ram = list_number(csv_.at("MemoryGiB"))) offer.ram_gb = *ram * gibibytes(1) / gigabytes(1);
    offer.storage_gb = list_number(csv_.at("StorageGiB"));
    const std::string name(csv_.at("AcceleratorName"));
    const GpuInfo info = gpu_info(csv_.at("GpuInfo"));
    if (count < 1) {
      offer.share = count;
      offer.gpu = name;
      offer.gpu_memory_gb = info.memory_gib;
      run_.mend("prices.part_of_gpu", "AcceleratorCount below 1, Count 0: a part of a GPU");
      return {std::move(offer), prices()};
    }
    offer.count = std::llround(count);
    GpuClaim claim{name, info.memory_gib, *offer.count, type, false};
    // The machine's type knows the card better than a family's name; a device's full name does too.
    if (const InstanceType* known = find_instance_type(type); known && known->count == *offer.count) {
      claim.name = known->gpu;
      offer.interconnect = known->interconnect;
    } else if (info.name.size() > name.size() && run_.catalog().find_accelerator(info.name)) {
      claim.name = info.name;
    }
    run_.resolve(offer, claim);
    return {std::move(offer), prices()};
  }

  void add(const ImportedOffer& offer, const Prices& prices) {
    if (!prices.price && !prices.spot) {
      ImportedOffer unpriced = offer;
      run_.without_price(unpriced, "no price in the list (0 or nothing), such as of what is for reservation only");
      return merge(std::move(unpriced));
    }
    if (prices.price) {
      ImportedOffer own = offer;
      own.price = prices.price;
      merge(std::move(own));
    }
    if (prices.spot) {
      ImportedOffer spot = offer;
      spot.contract = Contract::spot;
      spot.price = prices.spot;
      merge(std::move(spot));
    }
  }

  // Rows that differ in the zone alone are one offer at the lowest price.
  void merge(ImportedOffer offer) {
    std::string key = identity_of(offer);
    const auto found = offers_.find(key);
    if (found == offers_.end()) {
      offers_.emplace(std::move(key), std::move(offer));
      return;
    }
    run_.mend("prices.zones_joined", "rows that differ in the zone alone: one offer, the lowest price");
    if (offer.price && (!found->second.price || *offer.price < *found->second.price)) found->second = std::move(offer);
  }

  void remember_host(const std::string& type) {
    Prices& host = hosts_[{type, std::string(csv_.at("Region"))}];
    const Prices own = prices();
    if (own.price && (!host.price || *own.price < *host.price)) host.price = own.price;
    if (own.spot && (!host.spot || *own.spot < *host.spot)) host.spot = own.spot;
    host_sizes_[type] = {list_number(csv_.at("vCPUs")), list_number(csv_.at("MemoryGiB"))};
    run_.drop("prices.host_row", "the host of an accelerator: added to the accelerator's row");
  }
  void remember_part(double count) {
    const auto [offer, own] = offer_of("", count);
    parts_.push_back({offer, own, std::string(csv_.at("AcceleratorName"))});
  }

  void join_parts() {
    for (Part& part : parts_) {
      const std::string type = host_for(part.name, part.offer.count.value_or(0));
      const auto host = hosts_.find({type, part.offer.region});
      if (type.empty() || host == hosts_.end()) {
        part.offer.rankable = false;
        part.offer.why_not = "the price is the accelerator's alone, and the list has no host for it";
        part.offer.includes_host = false;
        add(part.offer, part.prices);
        continue;
      }
      Prices sum;
      if (part.prices.price && host->second.price) sum.price = *part.prices.price + *host->second.price;
      if (part.prices.spot && host->second.spot) sum.spot = *part.prices.spot + *host->second.spot;
      part.offer.product = type;
      std::tie(part.offer.vcpus, part.offer.ram_gb) = host_sizes_[type];
      if (part.offer.ram_gb) *part.offer.ram_gb *= gibibytes(1) / gigabytes(1);
      run_.mend("prices.host_added", "accelerator and host are priced apart: added");
      add(part.offer, sum);
    }
  }

  struct Part {
    ImportedOffer offer;
    Prices prices;
    std::string name;
  };
  ImportRun& run_;
  CsvStream csv_;
  std::string provider_;
  std::map<std::string, ImportedOffer> offers_;
  std::map<std::pair<std::string, std::string>, Prices> hosts_;  // by type and region
  std::map<std::string, std::pair<std::optional<double>, std::optional<double>>> host_sizes_;
  std::vector<Part> parts_;
};

}  // namespace

void read_skypilot(ImportRun& run) { SkypilotReader(run).read(); }

}  // namespace gpuplan
