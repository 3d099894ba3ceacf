#include <gpuplan/topology/collectives.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <cmath>

namespace gpuplan::testing {
namespace {

constexpr Collective kAll[] = {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
                               Collective::all_to_all, Collective::broadcast,      Collective::point_to_point};

}  // namespace

TEST_CASE("collective: its word is read back, as nccl-tests write it too", "[topology]") {
  for (const Collective kind : kAll) CHECK(*parse_collective(to_string(kind)).value == kind);
  CHECK(*parse_collective("all_reduce").value == Collective::all_reduce);
  CHECK(*parse_collective("alltoall").value == Collective::all_to_all);
  CHECK(*parse_collective("sendrecv").value == Collective::point_to_point);
  const auto wrong = parse_collective("all-redduce");
  REQUIRE_FALSE(wrong.value);
  CHECK(wrong.nearest == "all-reduce");
}

TEST_CASE("bus bandwidth: as nccl-tests define it", "[topology]") {
  // doc/PERFORMANCE.md: 1 GB in 10 ms is 100 GB/s of algorithm bandwidth; times 2 * 7/8, 7/8 or 1.
  const auto at = [](Collective kind) {
    return bus_bandwidth(kind, 8, gigabytes(1), milliseconds(10)) / gigabytes_per_second(1);
  };
  CHECK(at(Collective::all_reduce) == Approx(175));
  CHECK(at(Collective::all_gather) == Approx(87.5));
  CHECK(at(Collective::reduce_scatter) == Approx(87.5));
  CHECK(at(Collective::all_to_all) == Approx(87.5));
  CHECK(at(Collective::broadcast) == Approx(100));
  CHECK(at(Collective::point_to_point) == Approx(100));
}

TEST_CASE("collective: one rank has nobody to wait for", "[topology]") {
  const Fabric fabric = fabric_of(built_in(), gpu("H100-SXM5-80GB"), "", gigabits_per_second(3200), 8);
  for (const Collective kind : kAll)
    CHECK(collective_time(fabric, kind, {1, 1}, gigabytes(1)).time / seconds(1) == Approx(0).margin(0));
}

TEST_CASE("collective: finite, above zero, and never less for more bytes, on any fabric", "[topology]") {
  for (const char* name :
       {"H100-SXM5-80GB", "A100-PCIe-80GB", "RTX 4090", "Instinct-MI300X", "TPU-v5e", "GB200-186GB"}) {
    const Fabric fabric = fabric_of(built_in(), gpu(name), "", gigabits_per_second(400), 4);
    for (const Collective kind : kAll) {
      for (const RankGroup group : {RankGroup{2, 1, 1}, RankGroup{4, 1, 1}, RankGroup{1, 2, 4}, RankGroup{4, 64, 1}}) {
        Seconds before;
        for (double size = 0; size < 1e14; size = size * 1.7 + 1) {
          CAPTURE(name, to_string(kind), group.inside, group.hosts, size);
          const Seconds now = collective_time(fabric, kind, group, bytes(size)).time;
          REQUIRE((std::isfinite(now / seconds(1)) && now > Seconds{} && now >= before));
          before = now;
        }
      }
    }
  }
}

TEST_CASE("collective: groups that share the NICs are slower", "[topology]") {
  const Fabric fabric = fabric_of(built_in(), gpu("H100-SXM5-80GB"), "", gigabits_per_second(3200), 8);
  const auto at = [&](RankGroup group) {
    return collective_time(fabric, Collective::all_reduce, group, gigabytes(1)).time;
  };
  CHECK(at({8, 4, 2}) > at({8, 4, 1}));
  // One rank a host and eight such groups: each has the eighth of the network that it brings.
  CHECK(at({1, 4, 8}) / at({1, 4, 1}) == Approx(1));
}

}  // namespace gpuplan::testing
