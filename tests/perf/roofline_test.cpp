#include "catch.hpp"

#include "serving_fixture.hpp"

#include <gpuplan/perf/roofline.hpp>

using namespace gpuplan;
using gpuplan::testing::built_in;

TEST_CASE("roofline: the longer of compute and memory counts, and a share of the other", "[perf]") {
  // 100 FLOP at 50/s are 2 s, 30 bytes at 10/s are 3 s: 3 + 0.5 * 2 + 0.25.
  CHECK(operator_seconds<double>(100, 30, 50, 10, 0.25, 0.5) == Approx(4.25));
  CHECK(operator_seconds<double>(100, 30, 50, 10, 0.25, 0) == Approx(3.25));
  CHECK(operator_seconds<double>(400, 30, 50, 10, 0, 0) == Approx(8));
}

TEST_CASE("roofline: an operator without arithmetic takes the time of its bytes", "[perf]") {
  CHECK(operator_seconds<double>(0, 30, kUnlimitedCompute, 10, 0, 1) == Approx(3));
}

TEST_CASE("ceilings: a measured product or bandwidth stands before the datasheet", "[perf]") {
  const Ceilings ceilings(built_in());
  const Accelerator& h100 = *built_in().find_accelerator("H100-SXM5-80GB");
  CHECK(ceilings.compute(h100, Arithmetic::bf16) / teraflop_per_second(1) == Approx(794.5));  // achieved_gemm
  CHECK(ceilings.compute(h100, Arithmetic::fp8) / teraflop_per_second(1) == Approx(1402.6));  // achieved_gemm_fp8
  CHECK(ceilings.bandwidth(h100) / gigabytes_per_second(1) == Approx(2970));                  // stream_bandwidth
}

TEST_CASE("ceilings: a format that a device lacks falls back to the next wider one", "[perf]") {
  const Ceilings ceilings(built_in());
  const Accelerator& a100 = *built_in().find_accelerator("A100-SXM4-80GB");
  REQUIRE_FALSE(a100.fp8.known());
  CHECK_FALSE(has_arithmetic(a100, Arithmetic::fp8));
  CHECK(has_arithmetic(a100, Arithmetic::bf16));
  CHECK(ceilings.compute(a100, Arithmetic::fp8).base() == ceilings.compute(a100, Arithmetic::bf16).base());
}

TEST_CASE("ceilings: none is above the datasheet by more than measurements say", "[perf]") {
  const Ceilings ceilings(built_in());
  for (const Accelerator& gpu : built_in().accelerators()) {
    CAPTURE(gpu.name);
    CHECK(ceilings.bandwidth(gpu) > BytesPerSecond{});
    if (!gpu.stream_bandwidth.known()) CHECK(ceilings.bandwidth(gpu) <= gpu.memory_bandwidth.value);
  }
}
