#include "catch.hpp"
#include "csv_table.hpp"
#include "importing.hpp"

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace gpuplan {
namespace {

using testing::imported;
using testing::Imported;
using testing::problems_of;

const std::string kHead =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n";

std::string python_info(const std::string& name, const std::string& count, double mib) {
  return "\"{'Gpus': [{'Name': '" + name + "', 'Manufacturer': 'NVIDIA', 'Count': " + count +
         ", 'MemoryInfo': {'SizeInMiB': " + std::to_string(static_cast<long>(mib)) +
         "}}], 'TotalGpuMemoryInMiB': None}\"";
}

}  // namespace

TEST_CASE("price formats: names are unique, and each says what it is", "[prices]") {
  std::map<std::string_view, int> names;
  for (const PriceFormat& format : price_formats()) {
    CHECK(++names[format.name] == 1);
    CHECK_FALSE(format.title.empty());
    CHECK(find_price_format(format.name) == &format);
  }
  CHECK(find_price_format("nothing") == nullptr);
}

TEST_CASE("skypilot: GpuInfo as a Python literal and as JSON says the same", "[prices]") {
  const std::string json =
      R"("{""Gpus"": [{""Name"": ""L40S"", ""Count"": 2, ""MemoryInfo"": {""SizeInMiB"": 49152}}], ""TotalGpuMemoryInMiB"": 98304}")";
  const Imported list = imported("skypilot",
                                 kHead + "a,L40S,2,8,64," + python_info("L40S", "'2.0'", 49152) + ",3.5,,r1,\n" +
                                     "b,L40S,2.0,8,64," + json + ",3.5,,r1,\n",
                                 "nebius");
  REQUIRE(list.offers.size() == 2);
  for (const ImportedOffer& offer : list.offers) {
    CHECK(offer.gpu == "L40S");
    CHECK(offer.count == 2);
    CHECK(offer.price.value() == Approx(3.5));
    CHECK(offer.gpu_memory_gb.value() == Approx(48));
    CHECK(offer.provider == testing::provider("nebius").name);
    CHECK(stated_gpu_hour(offer).value() == Approx(1.75));  // 3.5 over 2 GPUs
    CHECK(offer.ram_gb.value() == Approx(64 * 1.073741824));
  }
}

TEST_CASE("skypilot: columns go by name, lines end with CRLF, and a BOM is skipped", "[prices]") {
  const Imported list = imported("skypilot",
                                 "\xEF\xBB\xBFInstanceType,UpstreamCloudId,vCPUs,MemoryGiB,AcceleratorName,"
                                 "AcceleratorCount,GpuInfo,Region,Price,SpotPrice\r\n"
                                 "x1,x1,30,120,A6000,1.0,,FIN-01,,0.25\r\n",
                                 "verda");
  REQUIRE(list.offers.size() == 1);  // no price on demand: spot alone
  CHECK(list.offers[0].contract == Contract::spot);
  CHECK(list.offers[0].price.value() == Approx(0.25));
  CHECK(list.offers[0].gpu == "RTX-A6000");
}

TEST_CASE("skypilot: memory in MiB that are GB, summed, or multiplied twice is mended", "[prices]") {
  struct Row {
    const char* mended;
    int count;
    double mib;
  };
  // An A100 with 80 GiB in eights: 80; 8 x 81920; 64 x 81920; 8 x 80.
  const auto row = GENERATE(values<Row>({{"prices.gb_as_mib", 1, 80},
                                         {"prices.memory_summed", 8, 655360},
                                         {"prices.memory_multiplied_twice", 8, 5242880},
                                         {"prices.gb_as_mib_summed", 8, 640}}));
  CAPTURE(row.mended);
  const std::string count = std::to_string(row.count);
  const Imported list = imported(
      "skypilot", kHead + "a,A100-80GB," + count + ",8,64," + python_info("A100-80GB", count, row.mib) + ",8,,r,\n",
      "runpod");
  REQUIRE(list.offers.size() == 1);
  CHECK(list.offers[0].gpu == "A100-SXM4-80GB");
  CHECK(list.offers[0].gpu_memory_gb.value() == Approx(80));
  CHECK(list.mended(row.mended) == 1);
}

TEST_CASE("skypilot: a price of 0.00 or none is unknown and does not compete", "[prices]") {  // w52, w55
  const std::string price = GENERATE("0.00", "", "0", "nan");
  CAPTURE(price);
  const Imported list =
      imported("skypilot", kHead + "p5en.48xlarge,H200,8,192,2048,," + price + ",,us-east-1,a\n", "aws");
  REQUIRE(list.offers.size() == 1);
  CHECK_FALSE(list.offers[0].price.has_value());
  CHECK_FALSE(list.offers[0].rankable);
  CHECK(list.offers[0].why_not.find("reservation only") != std::string::npos);
  CHECK(list.offers[0].gpu == "H200-SXM-141GB");
  CHECK(list.summary.rankable == 0);
}

TEST_CASE("skypilot: rows of host and accelerator are added", "[prices]") {  // w51: 0.94 is the host alone
  const Imported list =
      imported("skypilot",
               kHead + "a2-highgpu-1g,,,12,85,,0.94,0.30,us-x,us-x-a\n" + ",A100,1,,,,3.11,1.00,us-x,us-x-a\n" +
                   ",A100,1,,,,3.11,1.00,us-y,us-y-a\n" + "e2-medium,,,2,4,,0.03,,us-x,us-x-a\n",
               "gcp");
  const ImportedOffer& offer = list.one("a2-highgpu-1g", Contract::on_demand, "us-x");
  CHECK(offer.price.value() == Approx(4.05));  // 0.94 + 3.11
  CHECK(offer.rankable == false);              // the list does not say whether the card has 40 or 80 GB
  CHECK(list.one("a2-highgpu-1g", Contract::spot, "us-x").price.value() == Approx(1.30));
  CHECK(list.mended("prices.host_added") == 1);
  CHECK(list.dropped("prices.no_gpu") == 1);
  bool alone = false;  // without its host the accelerator is no server
  for (const ImportedOffer& one : list.offers)
    alone = alone || (one.region == "us-y" && !one.includes_host && !one.rankable);
  CHECK(alone);
}

TEST_CASE("skypilot: a part of a GPU has no count, whatever GpuInfo counts", "[prices]") {
  const Imported list =
      imported("skypilot", kHead + "g6f.2xlarge,L4,0.25,8,32," + python_info("L4", "0", 5722) + ",0.6,,r,z1\n", "aws");
  REQUIRE(list.offers.size() == 1);
  CHECK_FALSE(list.offers[0].count.has_value());
  CHECK(list.offers[0].share.value() == Approx(0.25));
  CHECK_FALSE(list.offers[0].rankable);
}

TEST_CASE("skypilot: rows that differ in the zone alone become one at the lowest price", "[prices]") {
  const Imported list = imported("skypilot", kHead + "g,L4,1,8,32,,0.9,0.5,r,z1\ng,L4,1,8,32,,0.9,0.4,r,z2\n", "aws");
  REQUIRE(list.offers.size() == 2);
  CHECK(list.one("g", Contract::spot).price.value() == Approx(0.4));
}

TEST_CASE("skypilot: a comma in a text without quotes is put back", "[prices]") {
  const Imported list =
      imported("skypilot",
               "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Region,Price,SpotPrice,GpuInfo\n"
               "i,L4,1,8,32,Ashburn, US,0.7,,\nquoted,L4,1,8,32,\"Ashburn, US\",0.7,,\n",
               "fluidstack");
  CHECK(list.one("i").region == "Ashburn, US");
  CHECK(list.one("i").price.value() == Approx(0.7));
  CHECK(list.one("quoted").region == "Ashburn, US");
  CHECK(list.mended("prices.comma_in_text") == 1);
}

TEST_CASE("skypilot: a name that nobody knows is kept as it is, with the nearest", "[prices]") {  // w56
  const Imported list = imported("skypilot", kHead + "i,H10O-SXM,1,8,32,,2,,r,\n", "lambda");
  REQUIRE(list.offers.size() == 1);
  CHECK(list.offers[0].gpu == "H10O-SXM");
  CHECK_FALSE(list.offers[0].rankable);
  CHECK(list.offers[0].why_not.find("nearest: ") != std::string::npos);
}

TEST_CASE("skypilot: memory tells an RTX 6000 of one generation from another", "[prices]") {
  const Imported list = imported(
      "skypilot", kHead + "i,RTX6000,1,14,46," + python_info("RTX6000", "1.0", 24576) + ",0.5,,r,\n", "lambda");
  CHECK(list.one("i").gpu == "Quadro-RTX-6000");
}

TEST_CASE("skypilot: a list without the columns, or whose seller nobody says, is refused", "[prices]") {
  CHECK(problems_of([] { imported("skypilot", "a,b\n1,2\n", "aws"); })[0].id == "prices.not_this_format");
  CHECK(problems_of([] { imported("skypilot", kHead); })[0].id == "prices.no_provider");
  CHECK(problems_of([] { imported("skypilot", kHead + "\"open", "aws"); })[0].id == "input.syntax");
}

TEST_CASE("gpuhunt: spot is a word, flags are told apart, machines without GPU are dropped", "[prices]") {
  const Imported list =
      imported("gpuhunt",
               "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags\n"
               "i1,us,0.5,30,240,1,A10,24.0,False,,nvidia,\ni1,us,0.2,30,240,1,A10,24.0,True,,nvidia,\n"
               "i2,us,2.0,30,240,4,A10,24.0,False,,nvidia,f1 f2\nc1,us,0.1,4,16,0,,,False,,,\n",
               "lambda");
  REQUIRE(list.offers.size() == 3);
  CHECK(list.one("i1", Contract::spot).price.value() == Approx(0.2));
  CHECK(list.one("i1").storage_gb.has_value() == false);
  CHECK(list.one("i2").tier == "f1 f2");
  CHECK(stated_gpu_hour(list.one("i2")).value() == Approx(0.5));
  CHECK(list.dropped("prices.no_gpu") == 1);
}

TEST_CASE("our CSV: a row that is wrong is dropped with why, the others stay", "[prices]") {
  const Imported list = imported("csv",
                                 "provider,gpu,count,contract,price,currency,unit,vat,region\n"
                                 "mine,L4,1,on_demand,0.7,EUR,hour,excluded,r\n"
                                 "mine,L4,1,weekly,0.7,EUR,hour,,r\nmine,L4,1,spot,cheap,EUR,hour,,r\n"
                                 "mine,L4,1,spot,0.1,EUR,fortnight,,r\nmine,L4\nmine,L4,1,spot,0,EUR,hour,,r\n");
  REQUIRE(list.offers.size() == 2);
  CHECK(list.summary.read == 6);
  CHECK(list.dropped("prices.bad_row") == 4);
  CHECK(list.offers[0].vat == Vat::excluded);
  CHECK(list.offers[0].currency == "EUR");  // converted at dated rates when it is shown: w59
  CHECK_FALSE(list.offers[1].price.has_value());
}

TEST_CASE("our CSV: a price is of the instance unless it says of one GPU", "[prices]") {  // w50
  const Imported list = imported("csv",
                                 "provider,gpu,count,contract,price,currency,scope\n"
                                 "a,L4,8,spot,8,USD,\nb,L4,8,spot,1,USD,gpu\n");
  CHECK(stated_gpu_hour(list.offers[0]).value() == Approx(1));
  CHECK(stated_gpu_hour(list.offers[1]).value() == Approx(1));
}

TEST_CASE("AWS CSV: the header is on row six, upfront sums are spread, other systems are dropped", "[prices]") {
  const std::string head =
      "\"FormatVersion\",\"v1.0\"\n\"Disclaimer\",\"a, b\"\n\"Publication "
      "Date\",\"2026-09-20T01:02:03Z\"\n\"Version\",\"1\"\n"
      "\"OfferCode\",\"AmazonEC2\"\nSKU,OfferTermCode,TermType,Unit,PricePerUnit,Currency,LeaseContractLength,"
      "PurchaseOption,"
      "OfferingClass,Location,Instance Type,vCPU,Memory,Operating System,Tenancy,Pre Installed "
      "S/W,CapacityStatus,GPU,Region Code\n";
  const auto row = [](const std::string& term, const std::string& unit, const std::string& price,
                      const std::string& lease, const std::string& option, const std::string& os) {
    return "S1,T" + lease + option + "," + term + "," + unit + "," + price + ",USD," + lease + "," + option +
           ",standard,US East,p4d.24xlarge,96,\"1,152 GiB\"," + os + ",Shared,NA,Used,8,us-east-1\n";
  };
  const Imported list = imported("aws", head + row("OnDemand", "Hrs", "32.7726", "", "", "Linux") +
                                            row("OnDemand", "Hrs", "36.1", "", "", "Windows") +
                                            row("Reserved", "Hrs", "9.5", "1yr", "Partial Upfront", "Linux") +
                                            row("Reserved", "Quantity", "83220", "1yr", "Partial Upfront", "Linux") +
                                            row("Reserved", "Quantity", "262800", "3yr", "All Upfront", "Linux"));
  REQUIRE(list.offers.size() == 3);
  CHECK(list.one("p4d.24xlarge").price.value() == Approx(32.7726));
  CHECK(list.one("p4d.24xlarge").gpu == "A100-SXM4-40GB");
  CHECK(list.one("p4d.24xlarge").count == 8);
  CHECK(list.one("p4d.24xlarge").observed_on == "2026-09-20");
  CHECK(list.one("p4d.24xlarge").ram_gb.value() == Approx(1152 * 1.073741824));
  std::vector<double> reserved;
  for (const ImportedOffer& offer : list.offers) {
    if (offer.contract == Contract::reserved) reserved.push_back(*offer.price);
  }
  REQUIRE(reserved.size() == 2);
  CHECK(reserved[0] == Approx(19));  // 9.5 + 83220 / 8760
  CHECK(reserved[1] == Approx(10));  // 262800 / (3 * 8760)
  CHECK(list.mended("prices.upfront_amortised") == 2);
  CHECK(list.dropped("prices.other_system") == 1);
}

TEST_CASE("FOCUS: hours of one price become one offer; other charges are dropped", "[prices]") {
  const Imported list =
      imported("focus",
               "ProviderName,RegionId,ChargeCategory,ChargeDescription,PricingUnit,PricingCategory,ListUnitPrice,"
               "ContractedUnitPrice,BillingCurrency,ChargePeriodStart,SkuPriceDetails\n"
               "AWS,us-east-1,Usage,x,Hours,Standard,55,50,USD,2026-09-01T00:00:00Z,\"{\"\"InstanceType\"\": "
               "\"\"p5.48xlarge\"\"}\"\n"
               "AWS,us-east-1,Usage,x,Hours,Standard,55,49,USD,2026-09-02T00:00:00Z,\"{\"\"InstanceType\"\": "
               "\"\"p5.48xlarge\"\"}\"\n"
               "AWS,us-east-1,Tax,x,Hours,Standard,55,49,USD,2026-09-02T00:00:00Z,\n"
               "AWS,us-east-1,Usage,per g6.xlarge hour,Hours,Dynamic,0.8,0.3,USD,2026-09-02T00:00:00Z,\n");
  REQUIRE(list.offers.size() == 2);
  CHECK(list.one("p5.48xlarge").price.value() == Approx(49));
  CHECK(list.one("p5.48xlarge").observed_on == "2026-09-02");
  CHECK(list.one("g6.xlarge", Contract::spot).price.value() == Approx(0.3));
  CHECK(list.dropped("prices.no_usage") == 1);
}

TEST_CASE("OpenCost: the hourly price is of an hour; a GPU's price is the accelerator's alone", "[prices]") {  // w54
  const Imported list =
      imported("opencost",
               "EndTimestamp,InstanceID,Region,AssetClass,InstanceIDField,InstanceType,MarketPriceHourly,Version\n"
               "2026-09-20T00:00:00Z,n1,eu,node,metadata.labels,g6.xlarge,0.8,\n"
               "2026-09-20T00:00:00Z,NVIDIA-L4,eu,gpu,metadata.labels,,0.7,\n"
               "2026-09-20T00:00:00Z,pv,eu,pv,x,,0.0001,\n",
               "aws");
  REQUIRE(list.offers.size() == 2);
  CHECK(list.one("g6.xlarge").unit == PriceUnit::hour);
  CHECK(stated_gpu_hour(list.one("g6.xlarge")).value() == Approx(0.8));
  CHECK_FALSE(list.one("NVIDIA-L4").includes_host);
  CHECK_FALSE(list.one("NVIDIA-L4").rankable);
}

TEST_CASE("skypilot: real catalogues give offers of known accelerators", "[prices]") {
  const std::string folder = std::string(GPUPLAN_SOURCE_DIR) + "/../shared/real/prices/skypilot/";
  for (const char* name : {"aws", "cudo", "hyperbolic", "jarvislabs", "lambda", "nebius", "runpod", "verda"}) {
    std::ifstream file(folder + name + ".csv");
    if (!file) return;
    std::stringstream text;
    text << file.rdbuf();
    const Imported list = imported("skypilot", text.str(), name);
    CAPTURE(name);
    CHECK(list.offers.size() > 2);
    std::int64_t unknown = 0;
    for (const ImportedOffer& offer : list.offers) {
      unknown += testing::built_in().find_accelerator(offer.gpu) ? 0 : 1;
      CHECK(offer.price.value_or(1) > 0);
    }
    CHECK(unknown == 0);
    CHECK(list.dropped("prices.bad_row") == 0);
  }
}

TEST_CASE("our CSV: the table of facts gives the built-in offers", "[prices]") {
  const std::string path = std::string(GPUPLAN_SOURCE_DIR) + "/../shared/facts/prices.csv";
  std::ifstream file(path);
  if (!file) return;
  std::stringstream text;
  text << file.rdbuf();
  const Imported list = imported("csv", text.str());
  // What was imported, by what identifies a price; each built-in offer that the table holds must be in it.
  std::multimap<std::string, const ImportedOffer*> seen;
  for (const ImportedOffer& offer : list.offers) seen.emplace(offer.provider + '\n' + offer.product, &offer);
  std::size_t found = 0, all = 0;
  std::string missing;
  for (const Provider& provider : testing::built_in().providers()) {
    for (const Offer& offer : provider.offers) {
      if (!offer.rankable || !offer.price.known()) continue;
      ++all;
      const auto [begin, end] = seen.equal_range(std::string(provider.name) + '\n' + std::string(offer.product));
      const bool same = std::any_of(begin, end, [&](const auto& entry) {
        const ImportedOffer& o = *entry.second;
        return o.gpu == testing::gpu(offer.gpu).name && o.contract == offer.contract && o.currency == offer.currency &&
               std::abs(*o.price - *offer.price) < 1e-9 * *offer.price && o.unit == offer.unit && o.vat == offer.vat;
      });
      found += same ? 1 : 0;
      if (!same && missing.size() < 2000) missing += std::string(offer.id) + "; ";
    }
  }
  CAPTURE(found, all, missing);
  // The others (8 of 806) say only `A100` or `H100`; the built-in record has the PCIe card, for the same provider lists the SXM one apart,
  // or for the price is that of its PCIe card. Their notes say so.
  CHECK(found + 8 >= all);
}

}  // namespace gpuplan
