#include <gpuplan/cost/goodput.hpp>

#include <gpuplan/base/error.hpp>

namespace gpuplan {

double failures_per_device_hour(const FailureStudy& study) {
  return static_cast<double>(*study.interruptions) / (static_cast<double>(*study.devices) * (*study.span / hours(1)));
}

Goodput plan_goodput(const GoodputInputs& in, Explain* why) {
  GPUPLAN_ASSERT(in.devices >= 1 && in.failures_per_device_hour >= 0, "devices fail at some rate");
  SpotInputs process;
  process.work = in.work;
  process.save = in.save;
  process.restore = in.restart;
  process.instances = in.devices;
  process.step = in.step;
  process.interval = in.interval;
  if (in.failures_per_device_hour > 0) process.mtbf = hours(1 / in.failures_per_device_hour);
  const SpotPlan plan = plan_spot(process, why);
  Goodput goodput;
  goodput.finishes = plan.verdict != SpotVerdict::never_finishes;
  goodput.job_mtbf = plan.job_mtbf;
  goodput.interval = plan.interval;
  if (!goodput.finishes) return goodput;
  const SpotQuantiles quantiles = spot_quantiles(process, plan);
  goodput.failures = plan.interruptions;
  goodput.time = plan.billed;
  goodput.time_p50 = quantiles.billed_p50;
  goodput.time_p90 = quantiles.billed_p90;
  goodput.share = in.work / plan.billed;
  goodput.lost_to_saves = (plan.segments - 1) * in.save / plan.billed;
  goodput.lost_to_failures = 1 - goodput.share - goodput.lost_to_saves;
  if (why) {
    why->term(
        "goodput.job_mtbf", plan.job_mtbf, "3600 / (devices * failures_per_device_hour)",
        {{"devices", static_cast<double>(in.devices)}, {"failures_per_device_hour", in.failures_per_device_hour}});
    why->term("goodput.share", goodput.share, "work / time", {{"work", in.work}, {"time", goodput.time}});
  }
  return goodput;
}

}  // namespace gpuplan
