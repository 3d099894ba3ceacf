// Offers of a marketplace of hosts, as its search answers: {"offers": [...]}, a list, or one offer.
//
// `dph_total` is for all GPUs of the offer and includes the storage that the search asked for: the price is `dph_base`, else
// the total less `storage_total_cost`. `min_bid` is for the whole offer as well, and is the spot price. Names are short:
// "RTX 4070S Ti" is a 4070 Ti Super, "A100 SXM4" has 40 or 80 GB, a 4090 may have been given 48 GB: `gpu_ram` is what the device
// reports and decides.

#include "formats.hpp"

#include <gpuplan/base/text.hpp>

#include <cmath>

namespace gpuplan {
namespace {

constexpr std::string_view kSeller = "vast.ai";  // product-name: a format

std::string country_of(std::string_view place) {
  const std::size_t comma = place.rfind(',');
  return upper_country(comma == std::string_view::npos ? place : place.substr(comma + 1));
}

bool is_true(const nlohmann::json& item, std::string_view key) {
  const auto found = item.find(std::string(key));
  return found != item.end() && found->is_boolean() && found->get<bool>();
}
bool is_false(const nlohmann::json& item, std::string_view key) {
  const auto found = item.find(std::string(key));
  return found != item.end() && found->is_boolean() && !found->get<bool>();
}

std::string id_of(const nlohmann::json& item, std::string_view key) {
  const auto number = list_number(item, key);
  return number ? format_shortest(*number) : list_text(item, key);
}

void take_price(ImportRun& run, const nlohmann::json& item, ImportedOffer& offer) {
  offer.price = list_number(item, "dph_base");
  if (offer.price) {
    run.mend("prices.storage_left_out", "dph_total includes storage: the price is dph_base");
    return;
  }
  const auto total = list_number(item, "dph_total");
  const auto storage = list_number(item, "storage_total_cost");
  if (total && storage) {
    offer.price = *total - *storage;
    run.mend("prices.storage_left_out", "dph_total includes storage: taken out");
  } else if (total) {
    offer.price = total;
    offer.notes = "includes storage that the list does not price apart";
    run.mend("prices.storage_included", "dph_total includes storage, and nothing says how much");
  }
}

void read_offer(ImportRun& run, const nlohmann::json& item) {
  const std::string id = id_of(item, "id");
  run.row("offer " + id);
  const std::string name = list_text(item, "gpu_name");
  const auto count = list_number(item, "num_gpus");
  if (name.empty() || !count || *count < 1) return run.drop("prices.no_gpu", "an offer without GPU");
  if (is_true(item, "rented") || is_false(item, "rentable")) return run.drop("prices.not_offered", "rented already");
  ImportedOffer offer;
  offer.provider = run.provider_named(kSeller);
  offer.marketplace = true;
  offer.count = std::llround(*count);
  offer.region = list_text(item, "geolocation");
  offer.country = country_of(offer.region);
  if (offer.region.starts_with(",")) offer.region = offer.country;
  const std::string machine = id_of(item, "machine_id");
  offer.tier = machine.empty() ? "offer " + id : "machine " + machine;
  offer.product = name;
  offer.vcpus = list_number(item, "cpu_cores_effective");
  if (const auto ram = list_number(item, "cpu_ram")) {
    offer.ram_gb = *ram * list_number(item, "gpu_frac").value_or(1) / 1000;
  }
  offer.storage_gb = list_number(item, "disk_space");
  GpuClaim claim{name, std::nullopt, *offer.count, "", true};
  if (const auto memory = list_number(item, "gpu_ram"); memory && *memory > 0) claim.memory_gib = *memory / 1024;
  run.resolve(offer, claim);
  take_price(run, item, offer);
  const auto bid = list_number(item, "min_bid");
  ImportedOffer spot = offer;
  if (is_true(item, "is_bid")) {
    offer.contract = Contract::spot;
    return run.keep(std::move(offer));
  }
  run.keep(std::move(offer));
  if (!bid || *bid <= 0) return;
  spot.contract = Contract::spot;
  spot.price = bid;
  spot.notes = "the least bid now, for all GPUs of the offer";
  run.keep(std::move(spot));
}

}  // namespace

void read_vast(ImportRun& run) {
  nlohmann::json alone = nlohmann::json::object();
  bool any = false;
  stream_json(run.text(), {{"offers", "*"}, {""}, {"="}}, [&](const JsonItem& item) {
    if (item.pattern == 2 && alone.size() < 1000) {
      alone[item.path.back()] = item.value;
    } else if (item.pattern < 2 && item.value.is_object()) {
      any = true;
      read_offer(run, item.value);
    }
  });
  if (!any && alone.contains("gpu_name")) {
    any = true;
    read_offer(run, alone);
  }
  if (!any && !alone.contains("success"))
    refuse_format(run.text(), "no offers in the document", R"({"offers": [...]})");
}

}  // namespace gpuplan
