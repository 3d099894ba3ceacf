#include "catalogues.hpp"
#include "catch.hpp"
#include "prices/importing.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {
namespace {

using testing::Dice;
using testing::Imported;
using testing::imported;

struct Seed {
  std::string_view format;
  std::string_view provider;
  std::string text;
};

// One short list of each shape.
std::vector<Seed> seeds() {
  return {
      {"skypilot", "aws",
       "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n"
       "p5.48xlarge,H100,8,192,2048,\"{'Gpus': [{'Name': 'H100', 'MemoryInfo': {'SizeInMiB': "
       "81920}}]}\",98.32,40,us-east-1,a\n"
       "g6.xlarge,L4,1,4,16,,0.8048,,us-east-1,a\n"},
      {"gpuhunt", "",
       "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,provider\n"
       "a,us,2.5,8,64,1,H100,80,False,100,lambda\n"},
      {"csv", "",
       "provider,gpu,count,price,currency,unit,contract,interruption,observed_on\nlambda,H100,8,20,USD,hour,spot,5-10%,"
       "2026-09-01\n"},
      {"vast", "",
       R"({"offers": [{"id": 1, "gpu_name": "RTX 4090", "gpu_ram": 24564, "num_gpus": 2, "dph_base": 0.8, "min_bid": 0.3}]})"},
      {"runpod", "",
       R"({"data": {"gpuTypes": [{"id": "NVIDIA L4", "displayName": "L4", "memoryInGb": 24, "securePrice": 0.43, "communityPrice": 0.0}]}})"},
      {"aws-spot-advisor", "",
       R"({"instance_types": {"g6.xlarge": {"cores": 4, "ram_gb": 16}}, "ranges": [{"index": 0, "label": "<5%", "max": 5}], "spot_advisor": {"us-east-1": {"Linux": {"g6.xlarge": {"s": 70, "r": 0}}}}})"},
      {"azure", "",
       R"({"Items": [{"currencyCode": "USD", "retailPrice": 27.2, "unitPrice": 27.2, "armRegionName": "eastus", "productName": "Virtual Machines NDv4", "skuName": "ND96asr_v4", "armSkuName": "Standard_ND96asr_v4", "serviceName": "Virtual Machines", "unitOfMeasure": "1 Hour", "type": "Consumption"}], "NextPageLink": null})"},
      {"litellm", "",
       R"({"sample_spec": {"input_cost_per_token": 0}, "m": {"input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6, "litellm_provider": "openai", "mode": "chat"}})"},
      {"models.dev", "",
       R"({"openai": {"id": "openai", "models": {"m": {"id": "m", "cost": {"input": 1, "output": 4}}}}})"},
      {"focus", "",
       "BilledCost,BillingCurrency,ChargeCategory,ListUnitPrice,PricingUnit,ProviderName,RegionId,SkuId,ResourceType,"
       "ChargePeriodStart\n"
       "98.32,USD,Usage,98.32,Hours,AWS,us-east-1,p5.48xlarge,p5.48xlarge,2026-09-01T00:00:00Z\n"},
      {"opencost", "aws",
       "EndTimestamp,InstanceID,Region,AssetClass,InstanceIDField,InstanceType,MarketPriceHourly,Version\n"
       "2026-09-20T00:00:00Z,n1,eu,node,metadata.labels,g6.xlarge,0.8,\n"},
  };
}

// Changes of the kind that a broken tool or a hostile hand makes.
std::string mutated(std::string text, Dice& dice) {
  static const std::vector<std::string> kPieces = {"nan",
                                                   "-1",
                                                   "1e308",
                                                   "1e-308",
                                                   "inf",
                                                   "\"",
                                                   ",",
                                                   "\n",
                                                   "\r\n",
                                                   "{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   ":",
                                                   "null",
                                                   "''",
                                                   "0x10",
                                                   "\\u0000",
                                                   "\xff",
                                                   "%5%",
                                                   "9999999999999999999999",
                                                   std::string(300, 'a'),
                                                   "{'Gpus': ["};
  for (std::int64_t i = dice.whole(1, 4); i > 0 && !text.empty(); --i) {
    const auto at = static_cast<std::size_t>(dice.whole(0, static_cast<std::int64_t>(text.size()) - 1));
    switch (dice.whole(0, 4)) {
      case 0:
        text[at] = static_cast<char>(dice.whole(0, 255));
        break;
      case 1:
        text.resize(at);
        break;
      case 2:
        text.erase(at, static_cast<std::size_t>(dice.whole(1, 12)));
        break;
      case 3:
        text.insert(at, text.substr(at / 2, static_cast<std::size_t>(dice.whole(1, 40))));
        break;
      default:
        text.insert(at,
                    kPieces[static_cast<std::size_t>(dice.whole(0, static_cast<std::int64_t>(kPieces.size()) - 1))]);
    }
  }
  return text;
}

void check_offers(const Imported& list) {
  std::int64_t rankable = 0;
  for (const ImportedOffer& offer : list.offers) {
    for (const auto& amount : {offer.price, offer.input_per_1m, offer.output_per_1m, offer.vcpus, offer.ram_gb}) {
      if (amount) CHECK((std::isfinite(*amount) && *amount >= 0));
    }
    if (offer.count) CHECK(*offer.count >= 1);
    if (!offer.rankable) CHECK_FALSE(offer.why_not.empty());
    rankable += offer.rankable ? 1 : 0;
  }
  CHECK(list.summary.kept == static_cast<std::int64_t>(list.offers.size()));
  CHECK(list.summary.rankable == rankable);
}

}  // namespace

TEST_CASE("price readers: a broken list is an error with a place or fewer offers, never a wrong number",
          "[prices][slow]") {
  for (const Seed& seed : seeds()) {
    Dice dice(20261130);
    int told = 0;
    for (int i = 0; i < 400; ++i) {
      const std::string text = i == 0 ? seed.text : mutated(seed.text, dice);
      CAPTURE(seed.format, i, text);
      try {
        check_offers(imported(seed.format, text, std::string(seed.provider)));
      } catch (const InputError& error) {
        REQUIRE_FALSE(error.problems().empty());
        CHECK_FALSE(format_problem(error.problems().front()).empty());
        ++told;
      }
    }
    CAPTURE(seed.format);
    CHECK(told < 400);
  }
}

}  // namespace gpuplan
