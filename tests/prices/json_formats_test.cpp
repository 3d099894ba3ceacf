#include "catch.hpp"
#include "importing.hpp"

namespace gpuplan {

using testing::imported;
using testing::Imported;
using testing::problems_of;

TEST_CASE("Vast: the price leaves storage out, and bids are for the whole offer", "[prices]") {  // w50
  const Imported list = imported("vast", R"({"offers": [
    {"id": 1, "machine_id": 7, "gpu_name": "RTX 3090", "gpu_ram": 24576, "num_gpus": 8, "dph_base": 1.6, "dph_total": 1.7,
     "min_bid": 0.8, "geolocation": "Norway, NO", "rentable": true, "rented": false, "is_bid": false},
    {"id": 2, "gpu_name": "RTX 3090", "gpu_ram": 24576, "num_gpus": 1, "dph_total": 0.25, "storage_total_cost": 0.05, "geolocation": ", CN"},
    {"id": 3, "gpu_name": "RTX 3090", "gpu_ram": 24576, "num_gpus": 1, "dph_total": 0.25, "rented": true}]})");
  REQUIRE(list.offers.size() == 3);
  CHECK(list.offers[0].price.value() == Approx(1.6));
  CHECK(list.offers[0].country == "NO");
  CHECK(list.offers[0].marketplace);
  CHECK(list.offers[1].contract == Contract::spot);
  CHECK(stated_gpu_hour(list.offers[1]).value() == Approx(0.1));  // 0.8 over 8 GPUs, not 0.8 each
  CHECK(list.offers[2].price.value() == Approx(0.2));
  CHECK(list.offers[2].country == "CN");
  CHECK(list.dropped("prices.not_offered") == 1);
}

TEST_CASE("Vast: short names and the memory that the device reports say which card it is", "[prices]") {
  struct Row {
    const char* name;
    double mib;
    const char* gpu;  // empty: none that we know
  };
  const auto row = GENERATE(values<Row>({{"RTX 4070S Ti", 16376, "GeForce-RTX-4070-Ti-SUPER"},
                                         {"RTX 4080S", 16376, "GeForce-RTX-4080-SUPER"},
                                         {"H100 SXM", 81559, "H100-SXM5-80GB"},
                                         {"H100 PCIE", 81559, "H100-PCIe-80GB"},
                                         {"H100 NVL", 95830, "H100-NVL-94GB"},
                                         {"A100 SXM4", 40960, "A100-SXM4-40GB"},
                                         {"A100 SXM4", 81920, "A100-SXM4-80GB"},
                                         {"A100 PCIE", 40960, "A100-PCIe-40GB"},
                                         {"RTX 4090", 24564, "GeForce-RTX-4090"},
                                         {"RTX 4090", 49140, "GeForce-RTX-4090-48GB"},
                                         {"RTX 3090", 49140, ""},
                                         {"RTX 4090 Dream", 24564, ""}}));
  CAPTURE(row.name, row.mib);
  const Imported list =
      imported("vast", R"([{"id": 1, "gpu_name": ")" + std::string(row.name) + R"(", "gpu_ram": )" +
                           std::to_string(static_cast<int>(row.mib)) + R"(, "num_gpus": 1, "dph_base": 1}])");
  REQUIRE(list.offers.size() == 1);
  const bool known = std::string_view(row.gpu).size() > 0;
  CHECK(list.offers[0].rankable == known);
  CHECK(list.offers[0].gpu == (known ? row.gpu : row.name));
}

TEST_CASE("Vast: one offer alone is a list of one; anything else is refused", "[prices]") {
  CHECK(imported("vast", R"({"id": 1, "gpu_name": "L4", "num_gpus": 1, "dph_base": 1})").offers.size() == 1);
  CHECK(problems_of([] { imported("vast", R"({"error": "no"})"); })[0].id == "prices.not_this_format");
  CHECK(problems_of([] { imported("vast", R"({"offers": [)"); })[0].id == "input.syntax");
}

TEST_CASE("RunPod: prices are of one GPU, and 0.0 is not offered", "[prices]") {
  const Imported list = imported("runpod", R"({"data": {"gpuTypes": [
    {"id": "NVIDIA H100 80GB HBM3", "displayName": "H100 SXM", "memoryInGb": 80, "securePrice": 2.99, "communityPrice": 0.0,
     "communitySpotPrice": null, "secureSpotPrice": 1.5},
    {"id": "NVIDIA L4", "displayName": "L4", "memoryInGb": 24, "securePrice": 0.0, "communityPrice": 0, "lowestPrice": {"uninterruptablePrice": null}},
    {"id": "NVIDIA L40S", "displayName": "L40S", "memoryInGb": 48, "communityCloud": true, "secureCloud": false,
     "lowestPrice": {"minimumBidPrice": 0.3, "uninterruptablePrice": 0.6}}]}})");
  REQUIRE(list.offers.size() == 4);
  CHECK(list.one("H100 SXM").gpu == "H100-SXM5-80GB");
  CHECK(list.one("H100 SXM").scope == PriceScope::gpu);
  CHECK(stated_gpu_hour(list.one("H100 SXM")).value() == Approx(2.99));
  CHECK(list.one("H100 SXM", Contract::spot).price.value() == Approx(1.5));
  CHECK(list.one("L40S").marketplace);
  CHECK(list.dropped("prices.not_offered") == 1);
}

TEST_CASE("RunPod: an error with data null is told, not taken for an empty list", "[prices]") {
  const auto problems =
      problems_of([] { imported("runpod", R"({"errors": [{"message": "invalid key"}], "data": null})"); });
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "prices.error_answer");
  CHECK(problems[0].message.find("invalid key") != std::string::npos);
}

TEST_CASE("AWS JSON: products meet their terms, and upfront sums are spread", "[prices]") {
  const std::string product =
      R"({"sku": "S", "productFamily": "Compute Instance", "attributes": {"instanceType": "p5.48xlarge",
    "operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used", "regionCode": "us-east-1", "vcpu": "192", "memory": "2048 GiB"}})";
  const std::string reserved = R"({"offerTermCode": "T", "sku": "S", "priceDimensions": {
      "a": {"unit": "Hrs", "pricePerUnit": {"USD": "10.0"}}, "b": {"unit": "Quantity", "pricePerUnit": {"USD": "87600"}}},
      "termAttributes": {"LeaseContractLength": "1yr", "PurchaseOption": "Partial Upfront", "OfferingClass": "standard"}})";
  const std::string on_demand = R"({"offerTermCode": "D", "sku": "S", "effectiveDate": "2026-09-01T00:00:00Z",
      "priceDimensions": {"c": {"unit": "Hrs", "pricePerUnit": {"USD": "55.04"}}}, "termAttributes": {}})";
  const std::string bulk =
      R"({"publicationDate": "2026-09-20T00:00:00Z", "products": {"S": )" + product +
      R"(, "W": {"sku": "W", "attributes": {"instanceType": "m5.large", "operatingSystem": "Linux"}}},
                           "terms": {"OnDemand": {"S": {"S.D": )" +
      on_demand + R"(}}, "Reserved": {"S": {"S.T": )" + reserved + "}}}}";
  const std::string answer = R"({"product": )" + product + R"(, "terms": {"OnDemand": {"S.D": )" + on_demand +
                             R"(}, "Reserved": {"S.T": )" + reserved + "}}}";
  const bool is_bulk = GENERATE(true, false);
  const Imported list = imported("aws-json", is_bulk ? bulk : answer);
  REQUIRE(list.offers.size() == 2);
  CHECK(list.one("p5.48xlarge").price.value() == Approx(55.04));
  CHECK(list.one("p5.48xlarge").observed_on == (is_bulk ? "2026-09-20" : "2026-09-01"));
  CHECK(list.one("p5.48xlarge", Contract::reserved).price.value() == Approx(20));  // 10 + 87600 / 8760
  CHECK(list.one("p5.48xlarge", Contract::reserved).term_months.value() == Approx(12));
  CHECK(list.dropped("prices.no_gpu") == (is_bulk ? 1 : 0));
}

TEST_CASE("Spot Advisor: bands have no time window, and negative savings stay negative", "[prices]") {
  const Imported list =
      imported("aws-spot-advisor", R"({"instance_types": {}, "ranges": [{"index": 0, "label": "<5%", "max": 5}],
    "spot_advisor": {"ca-central-1": {"Linux": {"p5.48xlarge": {"s": -62, "r": 0}, "m5.large": {"s": 50, "r": 0}, "g6.xlarge": {"s": 40, "r": 9}},
    "Windows": {"p5.48xlarge": {"s": 1, "r": 0}}}}})");
  REQUIRE(list.offers.size() == 2);
  CHECK(list.one("p5.48xlarge", Contract::spot).savings_percent.value() == Approx(-62));
  CHECK(list.one("p5.48xlarge", Contract::spot).interruption == "<5%");
  CHECK_FALSE(list.one("p5.48xlarge", Contract::spot).price.has_value());
  CHECK(list.one("g6.xlarge", Contract::spot).interruption.empty());
  CHECK(list.mended("prices.negative_savings") == 1);
  CHECK(list.summary.rankable == 0);
}

TEST_CASE("Azure: reservations are sums of their term, Windows and low priority are dropped, pages are said",
          "[prices]") {
  const auto item = [](const std::string& rest) {
    return R"({"currencyCode": "USD", "armRegionName": "westeurope", "armSkuName": "Standard_ND96isr_H100_v5", "unitOfMeasure": "1 Hour", )" +
           rest + "}";
  };
  const Imported list = imported(
      "azure",
      R"({"BillingCurrency": "USD", "Items": [)" +
          item(
              R"("retailPrice": 98.32, "type": "Consumption", "productName": "NDsr H100 v5 Series", "skuName": "ND96isrH100v5",
              "savingsPlan": [{"unitPrice": 60.0, "retailPrice": 61.0, "term": "3 Years"}])") +
          "," +
          item(
              R"("retailPrice": 132.2, "type": "Consumption", "productName": "NDsr H100 v5 Series Windows", "skuName": "x")") +
          "," +
          item(
              R"("retailPrice": 30.0, "type": "Consumption", "productName": "NDsr H100 v5 Series", "skuName": "x Spot")") +
          "," +
          item(
              R"("retailPrice": 20.0, "type": "Consumption", "productName": "NDsr H100 v5 Series", "skuName": "x Low Priority")") +
          "," +
          item(
              R"("retailPrice": 525600, "type": "Reservation", "reservationTerm": "1 Year", "productName": "NDsr H100 v5 Series", "skuName": "x")") +
          R"(], "NextPageLink": "https://prices.example/?$skip=100", "Count": 5})");
  REQUIRE(list.offers.size() == 4);
  CHECK(list.one("Standard_ND96isr_H100_v5").price.value() == Approx(98.32));
  CHECK(list.one("Standard_ND96isr_H100_v5").gpu == "H100-SXM5-80GB");
  CHECK(list.one("Standard_ND96isr_H100_v5", Contract::spot).price.value() == Approx(30));
  std::vector<double> reserved;
  for (const ImportedOffer& offer : list.offers) {
    if (offer.contract == Contract::reserved) reserved.push_back(*offer.price);
  }
  CHECK(reserved == std::vector<double>{61, 60});  // 525600 / 8760
  CHECK(list.dropped("prices.other_system") == 1);
  CHECK(list.dropped("prices.low_priority") == 1);
  CHECK(list.mended("prices.more_pages") == 1);
}

TEST_CASE("Azure: pages are followed on the same server alone", "[prices]") {
  const std::string item =
      R"({"armSkuName": "Standard_NC4as_T4_v3", "retailPrice": 0.5, "type": "Consumption", "unitOfMeasure": "1 Hour", "currencyCode": "USD"})";
  const auto page = [&](const std::string& next) {
    return R"({"Items": [)" + item + R"(], "NextPageLink": )" + next + "}";
  };
  std::vector<std::string> asked;
  ImportContext context;
  context.catalog = &testing::built_in();
  context.next_page = [&](const std::string& address) {
    asked.push_back(address);
    return price_text(page(R"("https://elsewhere.example/2")"), address);
  };
  std::int64_t offers = 0;
  const auto text = price_text(page(R"("https://prices.example/1")"), "https://prices.example/0");
  const ImportSummary summary =
      import_prices(*find_price_format("azure"), *text, context, [&](ImportedOffer&&) { ++offers; });
  CHECK(asked == std::vector<std::string>{"https://prices.example/1"});
  CHECK(offers == 2);
  CHECK(Imported::rows(summary.mended, "prices.more_pages") == 1);
}

TEST_CASE("Google Cloud: GPU, cores and memory are added, units and nanos too, in each region", "[prices]") {
  const auto sku = [](const std::string& description, const std::string& group, const std::string& units, long nanos) {
    return R"({"skuId": ")" + group + R"(", "description": ")" + description + R"(", "category": {"resourceGroup": ")" +
           group +
           R"(", "usageType": "OnDemand"}, "serviceRegions": ["us-central1", "us-east1"], "pricingInfo": [{"pricingExpression":
           {"usageUnit": "h", "tieredRates": [{"startUsageAmount": 0, "unitPrice": {"currencyCode": "USD", "units": ")" +
           units + R"(", "nanos": )" + std::to_string(nanos) + "}}]}}]}";
  };
  const Imported list =
      imported("gcp", R"({"skus": [)" + sku("Nvidia Tesla A100 GPU running in Americas", "GPU", "2", 933908000) + "," +
                          sku("A2 Instance Ram running in Americas", "RAM", "0", 4237000) + "," +
                          sku("A2 Instance Core running in Americas", "CPU", "0", 31611000) + "," +
                          sku("E2 Instance Core running in Americas", "CPU", "0", 21811590) + "," +
                          sku("Nvidia L4 GPU running in Americas", "GPU", "0", 560000000) + "]}");
  // 2.933908 + 12 * 0.031611 + 85 * 0.004237 = 3.673385
  CHECK(list.one("a2-highgpu-1g", Contract::on_demand, "us-east1").price.value() == Approx(3.673385));
  CHECK(list.one("a2-highgpu-1g", Contract::on_demand, "us-central1").gpu == "A100-SXM4-40GB");
  CHECK_FALSE(list.one("g2-standard-4").includes_host);
  CHECK_FALSE(list.one("g2-standard-4").rankable);
  CHECK(list.mended("prices.one_price_for_regions") == 2);
  CHECK(list.dropped("prices.host_row") == 2);
  CHECK(list.dropped("prices.no_gpu") == 1);
}

TEST_CASE("Scaleway: units plus nanos for a size of a unit", "[prices]") {
  const Imported list = imported("scaleway", R"({"products": [{"sku": "a", "locality": {"zone": "fr-par-2"},
    "price": {"retail_price": {"currency_code": "EUR", "units": 0, "nanos": 45500000}}, "unit_of_measure": {"unit": "minute", "size": 1},
    "properties": {"instance": {"offer_id": "H100-1-80G"}, "hardware": {"cpu": {"threads": 24}, "ram": {"size": 240000000000},
    "gpu": {"count": 1, "type": "NVIDIA H100 PCIe"}}}},
    {"sku": "b", "properties": {"hardware": {"gpu": {"count": 0}}}}]})");
  REQUIRE(list.offers.size() == 1);
  CHECK(list.offers[0].price.value() == Approx(2.73));  // 0.0455 a minute
  CHECK(list.offers[0].gpu == "H100-PCIe-80GB");
  CHECK(list.offers[0].ram_gb.value() == Approx(240));
  CHECK(list.dropped("prices.no_gpu") == 1);
}

TEST_CASE("OVH: prices are whole numbers of 1e-8, by the hour and by the month", "[prices]") {
  const Imported list = imported("ovh", R"({"addons": [{"planCode": "l40s-90.consumption", "invoiceName": "l40s-90",
    "pricings": [{"interval": 1, "intervalUnit": "hour", "price": 140000000, "formattedPrice": "1.40 €", "tax": 28000000},
                 {"interval": 1, "intervalUnit": "month", "price": 70000000000, "formattedPrice": "700 €"}],
    "blobs": {"technical": {"cpu": {"cores": 15}, "memory": {"size": 90}, "gpu": {"model": "L40S", "number": 1, "memory": {"size": 48}}}}},
    {"planCode": "d2", "pricings": [], "blobs": null}]})");
  REQUIRE(list.offers.size() == 2);
  CHECK(list.one("l40s-90").price.value() == Approx(1.4));
  CHECK(list.one("l40s-90").currency == "EUR");
  CHECK(list.one("l40s-90").vat == Vat::excluded);
  CHECK(list.one("l40s-90", Contract::reserved).price.value() == Approx(700));
  CHECK(list.one("l40s-90", Contract::reserved).unit == PriceUnit::month);
}

TEST_CASE("token prices: the sample is no model, money a token becomes money a million", "[prices]") {
  const Imported list = imported(
      "litellm", R"({"sample_spec": {"litellm_provider": "one of many", "input_cost_per_token": 0.0, "mode": "chat"},
    "m": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 5e-08, "output_cost_per_token": 8e-08},
    "free": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 0, "output_cost_per_token": 0},
    "picture": {"litellm_provider": "x", "mode": "image_generation", "input_cost_per_pixel": 1e-8}})");
  REQUIRE(list.offers.size() == 1);
  CHECK(list.offers[0].contract == Contract::token_api);
  CHECK(list.offers[0].input_per_1m.value() == Approx(0.05));
  CHECK(list.offers[0].output_per_1m.value() == Approx(0.08));
  CHECK(list.dropped("prices.sample") == 1);
  CHECK(list.dropped("prices.no_price") == 1);
  const Imported other = imported(
      "models.dev", R"({"groq": {"id": "groq", "models": {"m": {"cost": {"input": 0.075, "output": 0.3}}, "n": {}}}})");
  REQUIRE(other.offers.size() == 1);
  CHECK(other.offers[0].model == "m");
  CHECK(other.offers[0].output_per_1m.value() == Approx(0.3));
}

TEST_CASE("price lists: texts become one line of valid UTF-8 without control characters", "[prices]") {
  const Imported list =
      imported("csv",
               "provider,gpu,count,price,currency,product\n\"a\nb\",L4,1,1,USD,\"x\x1b[31m\"\nc,L4,1,1,USD,\xff"
               "z\n");
  REQUIRE(list.offers.size() == 2);
  CHECK(list.offers[0].provider == "a b");
  CHECK(list.offers[0].product == "x [31m");
  CHECK(list.offers[1].product == "?z");
}

TEST_CASE("price lists: numbers beyond all measure are no numbers", "[prices]") {
  const Imported list = imported("vast", R"([{"id": 1e300, "gpu_name": "L4", "num_gpus": 1e300, "dph_base": 1},
    {"id": 2, "gpu_name": "L4", "gpu_ram": -1, "num_gpus": 1, "dph_base": 1e300}, {"id": 3, "gpu_name": 5, "num_gpus": "x"}, 7, null])");
  REQUIRE(list.offers.size() == 1);
  CHECK_FALSE(list.offers[0].rankable);
}

TEST_CASE("price lists: hostile JSON is refused, not followed", "[prices]") {
  const std::string deep = R"({"offers": [)" + std::string(100, '[') + std::string(100, ']') + "]}";
  CHECK(problems_of([&] { imported("vast", deep); })[0].id == "input.too_deep");
  std::string wide = R"({"offers": [{"id": [0)";
  for (int i = 0; i < 200001; ++i) wide += ",0";
  CHECK(problems_of([&] { imported("vast", wide + "]}]}"); })[0].id == "input.too_large");
}

}  // namespace gpuplan
