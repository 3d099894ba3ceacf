#include <gpuplan/topology/collectives.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"

#include <cmath>

namespace gpuplan::testing {
namespace {

// 450 GB/s at 82 %: 369 GB/s of bus bandwidth.
FabricLevel nvlink() {
  FabricLevel level;
  level.link = "wire";
  level.rate = gigabytes_per_second(450);
  level.efficiency = 0.82;
  level.point_to_point_efficiency = 0.9;
  level.latency_2 = microseconds(6);
  level.latency_8 = microseconds(16);
  return level;
}

}  // namespace

TEST_CASE("all-reduce: two devices send the message once", "[topology]") {
  // 2 (n-1)/n = 1: 6 us + 1e9 / 369e9 s = 6 us + 2.7100271 ms
  CHECK(all_reduce_time(nvlink(), 2, gigabytes(1)) / milliseconds(1) == Approx(0.006 + 2.7100271));
}

TEST_CASE("all-reduce: eight devices send it 1.75 times", "[topology]") {
  // 2 * 7/8 = 1.75: 16 us + 1.75e9 / 369e9 s = 16 us + 4.7425474 ms
  CHECK(all_reduce_time(nvlink(), 8, gigabytes(1)) / milliseconds(1) == Approx(0.016 + 4.7425474));
}

TEST_CASE("all-reduce: the latency is linear in the logarithm of the devices", "[topology]") {
  // log2: 1 step at 2 devices, 2 at 4, 3 at 8, 4 at 16; 5 us a step between the measured points.
  CHECK(all_reduce_latency(nvlink(), 2) / microseconds(1) == Approx(6));
  CHECK(all_reduce_latency(nvlink(), 4) / microseconds(1) == Approx(11));
  CHECK(all_reduce_latency(nvlink(), 8) / microseconds(1) == Approx(16));
  CHECK(all_reduce_latency(nvlink(), 16) / microseconds(1) == Approx(21));
}

TEST_CASE("all-reduce: one device has nobody to wait for", "[topology]") {
  CHECK(all_reduce_time(nvlink(), 1, gigabytes(1)) / seconds(1) == Approx(0).margin(0));
  CHECK(all_reduce_latency(nvlink(), 1) / seconds(1) == Approx(0).margin(0));
}

TEST_CASE("all-reduce: through the host everything takes two passes", "[topology]") {
  FabricLevel staged = nvlink();
  staged.crosses_host = true;
  for (const std::int64_t devices : {2, 4, 8}) {
    for (const double megabyte : {0.001, 1.0, 1000.0}) {
      CHECK(all_reduce_time(staged, devices, megabytes(megabyte)) /
                all_reduce_time(nvlink(), devices, megabytes(megabyte)) ==
            Approx(2));
    }
  }
}

TEST_CASE("all-reduce: more bytes or more devices are never faster", "[topology]") {
  Dice dice(1);
  for (int i = 0; i < 1000; ++i) {
    FabricLevel level = nvlink();
    level.rate = gigabytes_per_second(dice.real(0.1, 2000));
    level.efficiency = dice.real(0.1, 1);
    level.latency_2 = microseconds(dice.real(0, 50));
    level.latency_8 = level.latency_2 + microseconds(dice.real(0, 50));
    const Bytes size = bytes(dice.real(0, 1e9));
    const Bytes more = size + bytes(dice.real(0, 1e9));
    const std::int64_t devices = dice.whole(2, 1024);
    CHECK(all_reduce_time(level, devices, more) >= all_reduce_time(level, devices, size));
    CHECK(all_reduce_time(level, devices + 1, size) >= all_reduce_time(level, devices, size));
  }
}

TEST_CASE("all-reduce: its recorded formula gives its time", "[topology]") {
  FabricLevel staged = nvlink();
  staged.crosses_host = true;
  Explain why;
  const Seconds recorded = all_reduce_time(staged, 4, megabytes(3), &why);
  check_formulas(why);
  CHECK(recorded.base() ==
        all_reduce_time(staged, 4, megabytes(3)).base());  // the same bits with and without a recorder
}

TEST_CASE("point-to-point: half a latency and the bytes at the copy's rate", "[topology]") {
  // 3 us + 1e9 / (450e9 * 0.9) s = 3 us + 2.4691358 ms
  CHECK(point_to_point_time(nvlink(), gigabytes(1)) / milliseconds(1) == Approx(0.003 + 2.4691358));
}

TEST_CASE("collectives: every accelerator with a link gives finite times at every count", "[topology]") {
  for (const Accelerator& one : built_in().accelerators()) {
    if (one.host_link.empty() && one.scale_up_link.empty()) continue;
    for (const char* interconnect : {"", "pcie", "nvlink", "nvlink-bridge", "nvswitch"}) {
      for (const std::int64_t count : {1, 2, 3, 4, 7, 8, 16, 72}) {
        const Fabric fabric = fabric_of(built_in(), one, interconnect, gigabits_per_second(100), count);
        const double seconds_taken = all_reduce_time(fabric.inside, count, megabytes(1)) / seconds(1);
        const double handover = point_to_point_time(fabric.between, megabytes(1)) / seconds(1);
        CAPTURE(one.name, interconnect, count, fabric.inside.link);
        CHECK((std::isfinite(seconds_taken) && (count == 1 ? seconds_taken >= 0 : seconds_taken > 0)));
        CHECK((std::isfinite(handover) && handover > 0));
      }
    }
  }
}

}  // namespace gpuplan::testing
