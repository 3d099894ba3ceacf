#include <gpuplan/topology/fabric.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

namespace gpuplan::testing {
namespace {

Fabric fabric(std::string_view name, std::string_view interconnect, std::int64_t count) {
  return fabric_of(built_in(), gpu(name), interconnect, {}, count);
}

}  // namespace

TEST_CASE("fabric: SXM cards use their links whatever the offer says", "[topology]") {
  for (const char* interconnect : {"", "pcie", "nvlink", "nvswitch"}) {
    CAPTURE(interconnect);
    CHECK(fabric("H100-SXM5-80GB", interconnect, 8).inside.link == "nvlink4");
    CHECK_FALSE(fabric("H100-SXM5-80GB", interconnect, 8).inside.crosses_host);
  }
  // NVLink 4: 18 links of 25 GB/s in each direction.
  CHECK(fabric("H100-SXM5-80GB", "", 8).inside.rate / gigabytes_per_second(1) == Approx(450));
}

TEST_CASE("fabric: a card with an optional bridge has it only where the offer says so", "[topology]") {
  CHECK(fabric("RTX 3090", "", 2).inside.link == "pcie4-x16");
  CHECK(fabric("RTX 3090", "pcie", 2).inside.link == "pcie4-x16");
  CHECK(fabric("RTX 3090", "nvlink-bridge", 2).inside.link == "nvlink3-bridge-ga102");
  CHECK(fabric("A100-PCIe-80GB", "", 2).inside.link == "pcie4-x16");
  CHECK(fabric("H100-NVL-94GB", "nvlink-bridge", 2).inside.link == "nvlink4-bridge-h100");
}

TEST_CASE("fabric: a bridge joins its cards only; more of them talk over PCIe", "[topology]") {
  CHECK(fabric("RTX 3090", "nvlink-bridge", 4).inside.link == "pcie4-x16");
  CHECK(fabric("H100-NVL-94GB", "nvlink-bridge", 4).inside.link == "pcie5-x16");
}

TEST_CASE("fabric: links that join more cards than a bridge can are part of the board", "[topology]") {
  // NVL72: 72 devices behind NVLink switches. A bridge joins two cards, or four.
  CHECK(fabric("GB200-186GB", "", 8).inside.link == "nvlink5");
  CHECK(fabric("GB300-288GB", "", 72).inside.link == "nvlink5");
}

TEST_CASE("fabric: without peer-to-peer the bytes cross the host", "[topology]") {
  CHECK(fabric("RTX 4090", "", 2).inside.crosses_host);  // the driver refuses it
  CHECK(fabric("RTX 3090", "", 2).inside.crosses_host);  // only over the bridge
  CHECK_FALSE(fabric("RTX 3090", "nvlink-bridge", 2).inside.crosses_host);
  CHECK_FALSE(fabric("L40S", "", 2).inside.crosses_host);
  CHECK_FALSE(fabric("A100-PCIe-80GB", "", 2).inside.crosses_host);
}

TEST_CASE("fabric: efficiencies are shares and latencies grow with the devices", "[topology]") {
  for (const Accelerator& one : built_in().accelerators()) {
    for (const std::int64_t count : {2, 8}) {
      const FabricLevel level = fabric_of(built_in(), one, "nvlink", {}, count).inside;
      if (level.link.empty()) continue;
      CAPTURE(one.name, count, level.link);
      CHECK(level.rate > BytesPerSecond{});
      CHECK((level.efficiency > 0 && level.efficiency <= 1));
      CHECK(level.point_to_point_efficiency > 0);
      CHECK(level.latency_2 > Seconds{});
      CHECK(level.latency_8 >= level.latency_2);
    }
  }
}

TEST_CASE("fabric: the devices of a host share its network", "[topology]") {
  const Fabric eight = fabric_of(built_in(), gpu("H100-SXM5-80GB"), "", gigabits_per_second(3200), 8);
  CHECK(eight.between.rate / gigabits_per_second(1) == Approx(400));  // 3200 / 8
  CHECK_FALSE(fabric("H100-SXM5-80GB", "", 8).between.rate > BytesPerSecond{});
}

TEST_CASE("fabric: it is called by its link and its way", "[topology]") {
  CHECK(fabric_name(fabric("H100-SXM5-80GB", "", 8), 8, 1) == "nvlink4");
  CHECK(fabric_name(fabric("RTX 4090", "", 2), 2, 1) == "pcie4-x16 via host");
  CHECK(fabric_name(fabric("RTX 4090", "", 1), 1, 1) == "-");
  Fabric two_hosts = fabric("H100-SXM5-80GB", "", 8);
  two_hosts.between.link = "ib-ndr";
  CHECK(fabric_name(two_hosts, 8, 2) == "nvlink4 + ib-ndr");
  CHECK(fabric_name(two_hosts, 1, 2) == "ib-ndr");
  CHECK(fabric_name(fabric("Cerebras-WSE-3", "", 2), 2, 1) == "unknown");
}

}  // namespace gpuplan::testing
