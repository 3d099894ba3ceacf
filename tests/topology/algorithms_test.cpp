#include <gpuplan/topology/algorithms.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"

#include <cmath>

namespace gpuplan::testing {
namespace {

constexpr Collective kAll[] = {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
                               Collective::all_to_all, Collective::broadcast,      Collective::point_to_point};

// 100 GB/s at 80 % in bulk and 20 % word by word; a call costs 20 and 5 us, a step 2 and 1 us.
LevelSpeed speed() {
  LevelSpeed s;
  s.launch = microseconds(5);
  s.hop = microseconds(1);
  s.efficiency = 0.2;
  s.bulk_launch = microseconds(20);
  s.bulk_hop = microseconds(2);
  s.bulk_efficiency = 0.8;
  return s;
}

// Eight devices a host, each with 10 GB/s of its network.
Fabric fabric() {
  Fabric f;
  f.inside.link = "wire";
  f.inside.rate = gigabytes_per_second(100);
  f.inside.ring = f.inside.exchange = speed();
  f.domain = 8;
  f.between.link = "fibre";
  f.between.rate = gigabytes_per_second(10);
  f.between.network = speed();
  f.between.network.launch = f.between.network.bulk_launch = Seconds{};
  f.between.network.hop = microseconds(10);
  f.between.network.bulk_hop = microseconds(50);
  return f;
}

double us(const Fabric& f, Collective kind, RankGroup group, Bytes size) {
  return collective_time(f, kind, group, size).time / microseconds(1);
}

}  // namespace

TEST_CASE("ring: small messages go word by word, large ones in bulk", "[topology]") {
  // 14 steps: 5 + 14 + 1.75 * 1000 / 20 kB/us = 0.0875 us; in bulk 20 + 28 + … is more.
  CHECK(us(fabric(), Collective::all_reduce, {8, 1}, bytes(1000)) == Approx(19.0875));
  // 20 + 28 + 1.75e9 / 80e3 B/us = 21875 us
  CHECK(us(fabric(), Collective::all_reduce, {8, 1}, gigabytes(1)) == Approx(48 + 21875));
  // Half of the steps and of the bytes: 20 + 14 + 0.875e9 / 80e3
  CHECK(us(fabric(), Collective::all_gather, {8, 1}, gigabytes(1)) == Approx(34 + 10937.5));
  CHECK(us(fabric(), Collective::reduce_scatter, {8, 1}, gigabytes(1)) == Approx(34 + 10937.5));
  CHECK(us(fabric(), Collective::broadcast, {8, 1}, gigabytes(1)) == Approx(34 + 12500));
}

TEST_CASE("all-to-all: every rank sends to every other at once", "[topology]") {
  // one step: 20 + 2 + 0.875e9 / 80e3
  CHECK(us(fabric(), Collective::all_to_all, {8, 1}, gigabytes(1)) == Approx(22 + 10937.5));
}

TEST_CASE("a rank's own part is copied beside", "[topology]") {
  Fabric f = fabric();
  f.inside.ring.copy_efficiency = 2;  // 200 GB/s: 1e9 / 8 / 200e3 = 625 us
  CHECK(us(f, Collective::all_gather, {8, 1}, gigabytes(1)) == Approx(34 + 10937.5 + 625));
}

TEST_CASE("in-switch: a rank sends the whole and its part, whatever the ranks", "[topology]") {
  Fabric f = fabric();
  f.inside.reduces = true;
  f.inside.in_switch = speed();
  f.inside.in_switch.efficiency = 0;
  // 20 + 4 + 1.125e9 / 80e3 = 14062.5; the ring takes 21923
  const CollectiveTime t = collective_time(f, Collective::all_reduce, {8, 1}, gigabytes(1));
  CHECK(t.algorithm == "in-switch");
  CHECK(t.time / microseconds(1) == Approx(24 + 14062.5));
  CHECK(collective_time(f, Collective::all_reduce, {8, 1}, bytes(1000)).algorithm == "ring");
  CHECK(collective_time(f, Collective::all_gather, {8, 1}, gigabytes(1)).algorithm == "ring");
}

TEST_CASE("engines' kernels: one shot for the small, two for the middle, and none through the host", "[topology]") {
  const auto at = [](const Fabric& f, Bytes size) {
    return collective_time(f, Collective::all_reduce, {8, 1}, size, nullptr, Kernels::engine);
  };
  // 5 + 1 + 7 * 1000 / 20e3 = 6.35 us
  CHECK(at(fabric(), bytes(1000)).algorithm == "one-shot");
  CHECK(at(fabric(), bytes(1000)).time / microseconds(1) == Approx(6.35));
  // two-shot 5 + 2 + 1.75 * 1e5 / 20e3 = 15.75; one-shot 6 + 35; the ring's 14 steps alone take as long
  CHECK(at(fabric(), bytes(1e5)).algorithm == "two-shot");
  CHECK(at(fabric(), bytes(1e5)).time / microseconds(1) == Approx(15.75));
  Fabric staged = fabric();
  staged.inside.crosses_host = true;
  CHECK(at(staged, bytes(1000)).algorithm == "ring");
}

TEST_CASE("across hosts: two trees for few steps, a ring for few bytes", "[topology]") {
  // Two hosts of eight: the tree sends the bytes once through 80 GB/s at 80 %: 1e9 / 64e3 = 15625 us, more than 1.75e9 / 80e3 inside?
  // no: 21875 us inside. 20 + 14 * 2 inside, two hops of 50.
  const CollectiveTime two = collective_time(fabric(), Collective::all_reduce, {8, 2}, gigabytes(1));
  CHECK(two.algorithm == "hierarchical tree");
  CHECK(two.time / microseconds(1) == Approx(20 + 28 + 100 + 21875));
  // One rank a host has 10 GB/s. Four: the tree sends twice, the ring 1.5 times at 8 GB/s: 187500 us and six hops.
  const CollectiveTime four = collective_time(fabric(), Collective::all_reduce, {1, 4}, gigabytes(1));
  CHECK(four.algorithm == "ring");
  CHECK(four.time / microseconds(1) == Approx(20 + 6 * 50 + 187500));
  // Small over 64: twelve hops up and down against 126.
  const CollectiveTime many = collective_time(fabric(), Collective::all_reduce, {1, 64}, bytes(8));
  CHECK(many.algorithm == "tree");
  CHECK(many.time / microseconds(1) == Approx(5 + 120).epsilon(1e-4));
}

TEST_CASE("across hosts: what leaves a host shares its network", "[topology]") {
  // 8 of 16 ranks' bytes leave: 8 * 8/16 * 1e9 over 80 GB/s at 80 % = 62500 us, one hop.
  CHECK(us(fabric(), Collective::all_to_all, {8, 2}, gigabytes(1)) == Approx(20 + 50 + 62500));
  CHECK(us(fabric(), Collective::point_to_point, {1, 2}, gigabytes(1)) == Approx(20 + 50 + 125000));
  Fabric thin = fabric();
  thin.oversubscription = 2;
  CHECK(us(thin, Collective::point_to_point, {1, 2}, gigabytes(1)) == Approx(20 + 50 + 250000));
}

TEST_CASE("in-network: each host sends its bytes once, whatever the hosts", "[topology]") {
  Fabric f = fabric();
  f.between.reduces = true;
  f.between.in_switch = f.between.network;
  f.between.in_switch.efficiency = 0;
  // 1e9 / 8e3 B/us and two hops
  const CollectiveTime t = collective_time(f, Collective::all_reduce, {1, 64}, gigabytes(1));
  CHECK(t.algorithm == "in-network");
  CHECK(t.time / microseconds(1) == Approx(20 + 100 + 125000));
}

TEST_CASE("meshes: a few devices have the links that lead to one another", "[topology]") {
  FabricLevel mesh;
  mesh.shape = FabricShape::full_mesh;
  CHECK(ring_share(mesh, 8, 8) == Approx(1));
  CHECK(ring_share(mesh, 8, 2) == Approx(1.0 / 7));
  CHECK(ring_share(mesh, 8, 4) == Approx(3.0 / 7));
  FabricLevel cube;
  cube.shape = FabricShape::cube_mesh;
  cube.links = 6;
  CHECK(ring_share(cube, 8, 2) == Approx(2.0 / 6));
  CHECK(ring_share(cube, 8, 4) == Approx(4.0 / 6));
  CHECK(exchange_share(cube, 8, 4) == Approx(4.0 / 6));
  CHECK(exchange_share(cube, 9, 8) == Approx(0.7));  // four peers one link away, three two: 10 / 7 links a message
  FabricLevel torus;
  torus.shape = FabricShape::torus;
  torus.links = 4;
  CHECK(ring_share(torus, 256, 256) == Approx(1));
  CHECK(ring_share(torus, 256, 2) == Approx(0.25));
  CHECK(ring_share(torus, 256, 16) == Approx(0.5));
  // 16 x 16, closed: a message passes a quarter of each axis, 2 * 16 / 4 links
  CHECK(exchange_share(torus, 256, 256) == Approx(1.0 / 8));
}

TEST_CASE("MI300X: two have one link of seven", "[topology]") {
  // stas00/ml-engineering: bus bandwidth 47.7 GB/s of two and 312.9 of eight at 4 GiB
  const NodeDesign& node = required(built_in().find_node("mi300x-8x-dell"), "mi300x-8x-dell");
  const Fabric f = fabric_of_node(built_in(), node, 8);
  const auto bus = [&](std::int64_t n) {
    const Bytes size = gibibytes(4);
    return bus_bandwidth(Collective::all_reduce, n, size,
                         collective_time(f, Collective::all_reduce, {n, 1}, size).time) /
           gigabytes_per_second(1);
  };
  CHECK(bus(2) == Approx(47.7).epsilon(0.1));
  CHECK(bus(8) == Approx(312.9).epsilon(0.1));
}

TEST_CASE("node designs: their fabric has their NICs, their shape and their domain", "[topology]") {
  const auto of = [](std::string_view name) {
    const NodeDesign& node = required(built_in().find_node(name), name);
    return fabric_of_node(built_in(), node, *node.count);
  };
  const Fabric dgx = of("dgx-h100");
  CHECK(dgx.inside.link == "nvlink4");
  CHECK(dgx.inside.shape == FabricShape::switched);
  CHECK(dgx.inside.reduces);
  CHECK(dgx.nics == 8);
  CHECK(dgx.between.link == "ib-ndr");
  CHECK(dgx.between.rate / gigabits_per_second(1) == Approx(400));
  CHECK(of("dgx-1v").inside.shape == FabricShape::cube_mesh);
  CHECK(of("dgx-2").inside.shape == FabricShape::switched);  // NVLink 2 through switches
  CHECK(of("hgx-h100-4gpu").inside.shape == FabricShape::full_mesh);
  CHECK(of("gb200-nvl72-tray").domain == 72);
  CHECK(of("rtx4090-8x-pcie").inside.crosses_host);
  CHECK(of("tpu-v5e-host").inside.shape == FabricShape::torus);
  CHECK(of("tpu-v5e-host").domain == 256);
  // Four cards in two bridged pairs: two have the bridge, four talk over PCIe.
  CHECK(of("rtx-a6000-4x-nvlink").inside.link == "pcie4-x16");
  CHECK(fabric_of_node(built_in(), required(built_in().find_node("rtx-a6000-4x-nvlink"), ""), 2).inside.link ==
        "nvlink3-bridge-ga102");
}

TEST_CASE("links: the rates that founding documents claim, one way and both", "[topology]") {
  const auto rate = [](std::string_view name) {
    return *required(built_in().find_link(name), name).rate / gigabytes_per_second(1);
  };
  CHECK(2 * rate("nvlink3") == Approx(600));               // "NVLink 3.0 gives 600 GB/s": both ways together
  CHECK(2 * rate("nvlink4") == Approx(900));               // "NVLink 4.0 gives 600": it is 900
  CHECK(rate("pcie4-x16") == Approx(31.5).epsilon(0.02));  // "PCIe 4.0 64 GB/s": 32 each way before encoding
  CHECK(rate("ib-hdr") == Approx(25));                     // 200 Gb/s
  CHECK(rate("ib-ndr") == Approx(50));                     // 400 Gb/s
  CHECK(rate("ib-hdr") / rate("eth-10g") == Approx(20));   // "Ethernet 10 Gb/s is 20 times less"
}

TEST_CASE("links: ten-gigabit Ethernet makes an exchange of gradients about twenty times longer", "[topology]") {
  // 14 GB of bf16 gradients of a 7 B model over two hosts of eight with one NIC each.
  const auto at = [](std::string_view network, double gbit) {
    const Fabric f = fabric_of_links(built_in(), built_in().find_link("nvlink4"), {}, 8, built_in().find_link(network),
                                     gigabits_per_second(gbit));
    return collective_time(f, Collective::all_reduce, {8, 2}, gigabytes(14)).time;
  };
  CHECK(at("eth-10g", 10) / at("ib-hdr", 200) == Approx(20).epsilon(0.1));
}

TEST_CASE("collective: its recorded formula gives its time", "[topology]") {
  Fabric switched = fabric();
  switched.inside.reduces = true;
  switched.inside.in_switch = speed();
  switched.inside.ring.copy_efficiency = 2;
  Fabric staged = fabric();
  staged.inside.crosses_host = true;
  for (const Fabric& f : {fabric(), switched, staged}) {
    for (const Collective kind : kAll) {
      for (const RankGroup group : {RankGroup{2, 1}, RankGroup{8, 1}, RankGroup{8, 4}, RankGroup{1, 4, 8}}) {
        for (const Bytes size : {Bytes{}, kibibytes(8), gibibytes(1)}) {
          Explain why;
          const Seconds recorded = collective_time(f, kind, group, size, &why).time;
          check_formulas(why);
          REQUIRE(recorded.base() == collective_time(f, kind, group, size).time.base());
        }
      }
    }
  }
}

TEST_CASE("collective: whatever a catalogue says, a time is finite and above zero", "[topology]") {
  Dice dice(7);
  for (int i = 0; i < 3000; ++i) {
    Fabric f = fabric();
    f.inside.rate = BytesPerSecond::from_base(std::pow(10, dice.real(-9, 18)));
    f.between.rate = BytesPerSecond::from_base(std::pow(10, dice.real(-9, 18)));
    f.inside.shape = static_cast<FabricShape>(dice.whole(0, 6));
    f.inside.links = dice.whole(0, 18);
    f.inside.crosses_host = dice.heads();
    f.domain = dice.whole(1, 9000);
    f.inside.ring.hop = f.between.network.bulk_hop = microseconds(dice.real(0, 1e9));
    f.inside.ring.launch = Seconds{};
    const RankGroup group{dice.whole(1, 9000), dice.whole(1, 100000), dice.real(1, 100)};
    if (group.ranks() < 2) continue;
    const Bytes size = bytes(dice.heads() ? 0 : std::pow(10, dice.real(0, 18)));
    for (const Collective kind : kAll) {
      const Seconds time = collective_time(f, kind, group, size).time;
      CAPTURE(i, to_string(kind), group.inside, group.hosts, size / bytes(1));
      REQUIRE((std::isfinite(time / seconds(1)) && time > Seconds{}));
    }
  }
}

}  // namespace gpuplan::testing
