#include <gpuplan/cost/goodput.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"

namespace gpuplan::testing {
namespace {

const FailureStudy& reference() {
  for (const FailureStudy& study : built_in().failure_studies()) {
    if (*study.devices == 16384) return study;
  }
  throw std::runtime_error("no reference study");
}

GoodputInputs job(std::int64_t devices, Seconds work) {
  GoodputInputs in;
  in.devices = devices;
  in.failures_per_device_hour = failures_per_device_hour(reference());
  in.work = work;
  in.save = seconds(10);
  in.restart = minutes(5);
  return in;
}

}  // namespace

TEST_CASE("goodput: 466 interruptions in 54 days on 16,384 devices are one in 2.8 hours", "[cost]") {
  // 466 / (16384 * 54 * 24) = 2.1946e-5 a device and hour; 54 * 24 / 466 = 2.781 h
  CHECK(failures_per_device_hour(reference()) == Approx(2.1946e-5).epsilon(1e-4));
  CHECK(plan_goodput(job(16384, days(54)), nullptr).job_mtbf / hours(1) == Approx(2.7811).epsilon(1e-4));
}

// The authors report more than 90 % of effective training time. To first order sqrt(2 * 10 / 10,012) + 300 / 10,012 are lost:
// 4.5 % to saves and lost work, 3.0 % to restarts.
TEST_CASE("goodput: the reference job keeps over 90 % of its time, as reported", "[cost]") {
  const Goodput goodput = plan_goodput(job(16384, days(54)), nullptr);
  CHECK(goodput.share == Approx(1 - 0.045 - 0.030).epsilon(0.01));
  CHECK(goodput.failures == Approx(466 / goodput.share).epsilon(1e-3));
  CHECK(goodput.share + goodput.lost_to_saves + goodput.lost_to_failures == Approx(1));
}

TEST_CASE("goodput: eight devices hardly notice, and more devices lose more", "[cost]") {
  CHECK(plan_goodput(job(8, days(1)), nullptr).share > 0.995);
  double before = 1;
  for (const std::int64_t devices : {8, 64, 512, 4096, 32768, 262144}) {
    const Goodput goodput = plan_goodput(job(devices, days(30)), nullptr);
    CHECK(goodput.finishes);
    CHECK(goodput.share < before);
    CHECK(goodput.time_p50 <= goodput.time_p90);
    before = goodput.share;
  }
}

TEST_CASE("goodput: a job of too many devices never finishes", "[cost]") {
  GoodputInputs in = job(100'000'000, days(30));
  in.restart = hours(1);
  CHECK_FALSE(plan_goodput(in, nullptr).finishes);
}

TEST_CASE("goodput: no failures, no loss", "[cost]") {
  GoodputInputs in = job(1024, days(30));
  in.failures_per_device_hour = 0;
  CHECK(plan_goodput(in, nullptr).share == Approx(1));
}

TEST_CASE("goodput: every recorded formula gives its term", "[cost]") {
  Explain why;
  (void)plan_goodput(job(1024, days(30)), &why);
  check_formulas(why);
}

}  // namespace gpuplan::testing
