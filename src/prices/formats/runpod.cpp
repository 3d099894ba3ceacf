// The GraphQL answer to gpuTypes. Prices are of one GPU and hour; 0.0 and null mean that it is not offered. An answer with
// `data: null` is an error, which is told, and no empty list.

#include "formats.hpp"

namespace gpuplan {
namespace {

constexpr std::string_view kSeller = "runpod";  // product-name: a format

struct PriceField {
  std::string_view field, tier;
  Contract contract;
  std::string_view term;
  double months;
};
constexpr PriceField kPrices[] = {
    {"securePrice", "secure", Contract::on_demand, "", 0},
    {"communityPrice", "community", Contract::on_demand, "", 0},
    {"secureSpotPrice", "secure", Contract::spot, "", 0},
    {"communitySpotPrice", "community", Contract::spot, "", 0},
    {"oneMonthPrice", "secure", Contract::reserved, "1 month", 1},
    {"threeMonthPrice", "secure", Contract::reserved, "3 months", 3},
    {"sixMonthPrice", "secure", Contract::reserved, "6 months", 6},
    {"oneYearPrice", "secure", Contract::reserved, "1 year", 12},
};

bool is_true(const nlohmann::json& item, std::string_view key) {
  const auto found = item.find(std::string(key));
  return found != item.end() && found->is_boolean() && found->get<bool>();
}

class GpuTypeReader {
 public:
  GpuTypeReader(ImportRun& run, const nlohmann::json& item) : run_(run), item_(item) {}

  void read() {
    const std::string id = list_text(item_, "id");
    run_.row(id);
    if (id.empty() && list_text(item_, "displayName").empty())
      return run_.drop("prices.no_gpu", "a type without a name");
    offer_.provider = run_.provider_named(kSeller);
    offer_.scope = PriceScope::gpu;
    offer_.count = 1;
    offer_.product = list_text(item_, "displayName");
    std::string name = id.empty() ? offer_.product : id;
    const auto memory = list_number(item_, "memoryInGb");
    GpuClaim claim{name, memory && *memory > 0 ? memory : std::nullopt, 1, "", false};
    run_.resolve(offer_, claim);
    for (const PriceField& price : kPrices) {
      offer(list_number(item_, price.field), price.tier, price.contract, price.term, price.months);
    }
    lowest();
    if (kept_ == 0) run_.drop("prices.not_offered", "no price: 0.0 and null mean that it is not offered");
  }

 private:
  void offer(std::optional<double> price, std::string_view tier, Contract contract, std::string_view term,
             double months) {
    if (!price || *price <= 0) return;
    ImportedOffer out = offer_;
    out.price = price;
    out.tier = tier;
    out.marketplace = tier == "community";
    out.contract = contract;
    out.term = term;
    if (months > 0) out.term_months = months;
    ++kept_;
    run_.keep(std::move(out));
  }
  // The lowest price of all clouds: of use where no cloud has a price of its own.
  void lowest() {
    const auto found = item_.find("lowestPrice");
    if (found == item_.end() || kept_ > 0) return;
    const bool community = is_true(item_, "communityCloud") && !is_true(item_, "secureCloud");
    const std::string_view tier = community ? "community" : is_true(item_, "communityCloud") ? "" : "secure";
    offer(list_number(*found, "uninterruptablePrice"), tier, Contract::on_demand, "", 0);
    offer(list_number(*found, "minimumBidPrice"), tier, Contract::spot, "", 0);
  }

  ImportRun& run_;
  const nlohmann::json& item_;
  ImportedOffer offer_;
  int kept_ = 0;
};

}  // namespace

void read_runpod(ImportRun& run) {
  bool any = false;
  std::string error;
  stream_json(run.text(), {{"data", "gpuTypes", "*"}, {"errors", "*"}}, [&](const JsonItem& item) {
    if (item.pattern == 1) {
      if (error.empty()) error = list_text(item.value, "message").substr(0, 200);
      return;
    }
    any = true;
    if (item.value.is_object()) GpuTypeReader(run, item.value).read();
  });
  if (any) return;
  if (!error.empty()) {
    throw InputError(Problem{"prices.error_answer",
                             "the server answered with an error and no list: '" + error + "'",
                             Place{run.text().origin(), 0, 0},
                             "an answer with data.gpuTypes",
                             {},
                             {}});
  }
  refuse_format(run.text(), "no GPU types in the document", R"({"data": {"gpuTypes": [...]}})");
}

}  // namespace gpuplan
