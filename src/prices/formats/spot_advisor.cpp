// How often spot instances were interrupted and what they saved: bands without a time window, and savings that may be
// negative, where spot is dearer than on demand. There are no prices in it: rows are kept beside the offers and do not compete.

#include "formats.hpp"
#include "instance_types.hpp"

#include <map>

namespace gpuplan {
namespace {
constexpr std::string_view kSeller = "aws";  // product-name: a format
}

void read_spot_advisor(ImportRun& run) {
  std::map<std::int64_t, std::string> bands;
  bool any = false;
  stream_json(run.text(), {{"ranges", "*"}, {"spot_advisor", "*", "*", "*"}}, [&](const JsonItem& item) {
    if (item.pattern == 0) {
      bands[static_cast<std::int64_t>(list_number(item.value, "index").value_or(-1))] = list_text(item.value, "label");
      return;
    }
    any = true;
    const std::string& region = item.path[1];
    const std::string& type = item.path[3];
    run.row(region + " " + type);
    const InstanceType* known = find_instance_type(type);
    if (item.path[2] != "Linux") return run.drop("prices.other_system", "another operating system than Linux");
    if (!known) return run.drop("prices.no_gpu", "a machine without accelerator");
    ImportedOffer offer;
    offer.provider = run.provider_named(kSeller);
    offer.contract = Contract::spot;
    offer.product = type;
    offer.region = region;
    offer.interconnect = known->interconnect;
    offer.confidence = Confidence::published;
    if (known->count > 0) offer.count = known->count;
    if (known->count == 0) offer.share = known->share;
    run.resolve(offer, {known->gpu, std::nullopt, known->count, type, false});
    offer.savings_percent = list_number(item.value, "s");
    if (const auto band = list_number(item.value, "r")) {
      const auto found = bands.find(static_cast<std::int64_t>(*band));
      offer.interruption = found == bands.end() ? "" : found->second;
    }
    if (offer.interruption.empty())
      run.mend("prices.unknown_band", "an interruption band that the list does not explain");
    if (offer.savings_percent.value_or(0) < 0) {
      run.mend("prices.negative_savings", "negative savings: spot is dearer than on demand, kept as stated");
    }
    offer.notes = "interruption band without a time window";
    run.without_price(offer, "an advice on interruptions and savings, without a price");
    run.keep(std::move(offer));
  });
  if (!any)
    refuse_format(run.text(), "no 'spot_advisor' in the document", R"({"ranges": [...], "spot_advisor": {...}})");
}

}  // namespace gpuplan
