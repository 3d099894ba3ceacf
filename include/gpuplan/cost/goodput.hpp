#pragma once
/// What failures leave of a large job: goodput is useful work over the time that is paid for.
///
///     const double rate = failures_per_device_hour(*study);        // 466 / (16,384 · 54 · 24) = 2.19e-5
///     plan_goodput({.devices = 16384, .failures_per_device_hour = rate, .work = days(54), …}, nullptr).job_mtbf   // 2.8 h
///
/// The same process as for spot (cost/spot.hpp) with every device an instance: the job stops when any one fails, the failed node is
/// replaced by a spare or waited for, and the last checkpoint is read by all.

#include <gpuplan/base/explain.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/catalog/records.hpp>
#include <gpuplan/cost/spot.hpp>

#include <cstdint>

namespace gpuplan {

/// Of a study whose figures are known.
double failures_per_device_hour(const FailureStudy& study);

struct GoodputInputs {
  std::int64_t devices = 1;
  double failures_per_device_hour = 0;
  Seconds work;  ///< without failures or saves
  Seconds save;  ///< that a checkpoint holds the job up
  Seconds
      restart;  ///< from a failure to the next step: noticing it, a spare, start, reading the checkpoint; it is paid for
  Seconds step;  ///< an interval is whole steps of it; zero: any time
  std::optional<Seconds> interval;
};

struct Goodput {
  bool finishes = true;
  Seconds job_mtbf;     ///< zero: no failures
  Seconds interval;     ///< of work between two saves
  double failures = 0;  ///< expected
  Seconds time;         ///< expected
  Seconds time_p50, time_p90;
  double share = 1;          ///< work over expected time
  double lost_to_saves = 0;  ///< shares of the expected time; with `share` they are 1
  double lost_to_failures = 0;
};

Goodput plan_goodput(const GoodputInputs& in, Explain* why);

}  // namespace gpuplan
