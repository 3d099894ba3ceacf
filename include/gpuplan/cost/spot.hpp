#pragma once
/// Work on machines that may be taken away: how often to save, and what that makes of time and money.
///
/// Interruptions of one instance are a Poisson process; a job over several stops when any of them does. Work proceeds in
/// segments: `interval` of work, then `save`. An interruption loses the segment; after it capacity is waited for (`wait`, not
/// billed), the last save is read (`restore`), and the segment starts again; all of that may be interrupted too.
///
///     const SpotPlan plan = plan_spot({.work = hours(100), .save = seconds(120), .mtbf = hours(6)}, nullptr);
///     plan.interval                                   // 2,277 s
///     spot_quantiles(inputs, plan).billed_p90         // what nine of ten such jobs are billed at most
///
/// The interval is sqrt(2 save (mtbf + restore)) (Young 1974 without restore, Daly 2003), unless that makes the job more than 1 %
/// longer than the exact best interval. Expectation, variance and quantiles are of the exact process; docs/PHYSICS.md,
/// "Interruptions".

#include <gpuplan/base/explain.hpp>
#include <gpuplan/base/units.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuplan {

struct SpotInputs {
  Seconds work;                     ///< without any interruption or save
  Seconds save;                     ///< to write a checkpoint, while nothing else happens
  Seconds restore;                  ///< to start again from one: boot, load, read
  Seconds wait;                     ///< until there is capacity again; nothing is billed
  Seconds mtbf;                     ///< mean time between interruptions of one instance; zero: there are none
  std::int64_t instances = 1;       ///< the job stops when any one does
  double correlation = 0;           ///< share of an instance's interruptions that take all others with it, 0 to 1
  Seconds notice;                   ///< warning before an interruption; one that covers `save` loses no work
  Seconds maximum_run;              ///< after which an instance is stopped anyway; zero: never
  Seconds step;                     ///< an interval is whole steps of it; zero: any time
  std::optional<Seconds> interval;  ///< to save at, instead of the best
  double price_ratio = 1;           ///< price of a second against the same hardware without interruptions
};

enum class SpotVerdict : std::uint8_t { wins, loses, never_finishes };
std::string_view to_string(SpotVerdict value);

struct SpotPlan {
  SpotVerdict verdict = SpotVerdict::wins;  ///< in expected money, against the same work without interruptions;
                                            ///< of what never finishes the times mean nothing
  Seconds job_mtbf;                         ///< of the whole job; zero: it is not interrupted
  Seconds interval;                         ///< of work between two saves; of a job that is not interrupted, all of it
  Seconds best_interval;                    ///< that the exact process is shortest with
  double steps = 0;                         ///< of `step` in an interval, 0 without steps
  double segments = 1;
  double interruptions = 0;  ///< expected
  double planned_stops = 0;  ///< expected, of `maximum_run`
  Seconds billed;            ///< expected
  Seconds elapsed;           ///< expected, with the waits
  double inflation = 1;      ///< billed over work
  double cost_ratio = 1;     ///< expected money against the same work without interruptions
};

/// Times are finite and not negative, `work` above zero.
SpotPlan plan_spot(const SpotInputs& in, Explain* why);

/// Mean time between interruptions of one instance below which spot loses; empty: it loses, or wins, at any.
std::optional<Seconds> break_even_mtbf(const SpotInputs& in);

struct SpotQuantiles {
  Seconds billed_p50, billed_p90;
  Seconds elapsed_p50, elapsed_p90;
};
/// Of the same process. Dearer than the plan: some hundred thousand operations.
SpotQuantiles spot_quantiles(const SpotInputs& in, const SpotPlan& plan);

/// Interruptions of a month to the mean time between them, for lists that give a share of instances that were interrupted: an
/// instance that is up all month survives it with exp(-month / mtbf).
Seconds mtbf_of_monthly_share(double share, Seconds month);

}  // namespace gpuplan
