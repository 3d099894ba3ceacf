// gpuhunt's catalogue: one CSV a provider. `spot` is the word True or False, memory is GB of the host, gpu_memory GB of one
// GPU, flags are separated by blanks; GPU parts of machines without their number, and rows without GPU, are dropped.

#include "formats.hpp"
#include "instance_types.hpp"

#include <gpuplan/base/text.hpp>

#include <cmath>

namespace gpuplan {
namespace {

void read_row(ImportRun& run, const CsvStream& csv) {
  const std::string name(csv.at("gpu_name"));
  const auto count = list_number(csv.at("gpu_count"));
  if (name.empty() || !count || *count <= 0) return run.drop("prices.no_gpu", "a machine without accelerator");
  ImportedOffer offer;
  const std::string_view seller = csv.at("provider");
  offer.provider = seller.empty() ? run.required_provider() : run.provider_named(seller);
  offer.product = csv.at("instance_name");
  offer.region = csv.at("location");
  offer.country = upper_country(offer.region);
  offer.tier = csv.at("flags");
  offer.vcpus = list_number(csv.at("cpu"));
  offer.ram_gb = list_number(csv.at("memory"));
  offer.storage_gb = list_number(csv.at("disk_size"));
  offer.price = list_number(csv.at("price"));
  const std::string spot = to_lower(csv.at("spot"));
  if (spot != "true" && spot != "false" && !spot.empty())
    return run.drop("prices.bad_row", "spot is neither True nor False");
  offer.contract = spot == "true" ? Contract::spot : Contract::on_demand;
  const auto memory = list_number(csv.at("gpu_memory"));
  if (*count < 1) {
    offer.share = count;
    offer.gpu = name;
    offer.gpu_memory_gb = memory;
    run.mend("prices.part_of_gpu", "gpu_count below 1: a part of a GPU");
    return run.keep(std::move(offer));
  }
  offer.count = std::llround(*count);
  GpuClaim claim{name, memory, *offer.count, offer.product, false};
  if (const InstanceType* known = find_instance_type(offer.product); known && known->count == *offer.count)
    claim.name = known->gpu;
  run.resolve(offer, claim);
  run.keep(std::move(offer));
}

}  // namespace

void read_gpuhunt(ImportRun& run) {
  CsvStream csv(run.text());
  if (!csv.next()) refuse_format(run.text(), "the list has no header", "a catalogue's CSV");
  csv.take_header();
  require_columns(csv, run.text(), {"instance_name", "location", "price", "gpu_count", "gpu_name", "spot"});
  while (csv.next()) {
    run.row(at_line(csv));
    if (csv.fields().size() != csv.width()) {
      run.drop("prices.bad_row", "another number of fields than the header");
      continue;
    }
    read_row(run, csv);
  }
}

}  // namespace gpuplan
