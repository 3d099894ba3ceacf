#include <gpuplan/cost/spot.hpp>

#include "interruptions.hpp"

#include <gpuplan/base/error.hpp>

#include <algorithm>
#include <cmath>

namespace gpuplan {
namespace {

// A segment that is interrupted so often before it ends takes longer than anybody waits: e^30 attempts.
constexpr double kHopeless = 30;

double s(Seconds time) { return time / seconds(1); }

struct Process {
  double rate = 0;  // interruptions of the job a second
  double work = 0, save = 0, restore = 0, wait = 0;
  bool warned = false;

  explicit Process(const SpotInputs& in)
      : work(s(in.work)), save(s(in.save)), restore(s(in.restore)), wait(s(in.wait)) {
    if (in.mtbf > Seconds{}) {
      const double others = static_cast<double>(in.instances);
      rate = (in.correlation + others * (1 - in.correlation)) / s(in.mtbf);
    }
    warned = in.notice > Seconds{} && in.notice >= in.save;
  }
  // Billed time over work, of many segments.
  [[nodiscard]] double stretch(double interval) const {
    return std::expm1(rate * (interval + save)) / (rate * interval);
  }
  // 1 - x = e^(-x - rate * save) with x = rate * interval: where the stretch is least.
  [[nodiscard]] double best_interval() const {
    double low = 0;
    double high = 1;
    for (int i = 0; i < 60; ++i) {
      const double x = (low + high) / 2;
      (std::exp(-x - rate * save) < 1 - x ? low : high) = x;
    }
    return high / rate;
  }
  [[nodiscard]] double first_order_interval() const { return std::sqrt(2 * save * (1 / rate + restore)); }
};

void choose_interval(const SpotInputs& in, const Process& process, SpotPlan& plan, Explain* why) {
  const double shortest = std::max(s(in.step), process.work * 1e-12);
  const double best = std::max(process.best_interval(), shortest);
  plan.best_interval = seconds(std::min(best, process.work));
  double interval = std::max(process.first_order_interval(), shortest);
  const bool off = process.stretch(interval) > 1.01 * process.stretch(best);
  if (off) interval = best;
  if (in.interval) interval = std::max(s(*in.interval), shortest);
  if (why && !off && !in.interval && interval > shortest) {
    why->term("spot.interval", seconds(interval), "sqrt(2 * save * (mtbf + restore))",
              {{"save", in.save}, {"mtbf", plan.job_mtbf}, {"restore", in.restore}});
  }
  if (in.step > Seconds{}) {
    plan.steps = std::max(1.0, std::round(interval / s(in.step)));
    interval = plan.steps * s(in.step);
  }
  plan.interval = seconds(std::min(interval, process.work));
  plan.segments = std::max(1.0, std::ceil(process.work / s(plan.interval) - 1e-9));
}

double last_segment(const Process& process, const SpotPlan& plan) {
  return process.work - (plan.segments - 1) * s(plan.interval);
}

// Expected billed time without stops after a longest run.
double expected_time(const Process& process, const SpotPlan& plan, Explain* why) {
  const double rate = process.rate;
  if (process.warned) {
    const double time = process.work * (std::exp(rate * process.restore) + rate * process.save);
    if (why) {
      why->term("spot.billed", seconds(time), "work * (exp(rate * restore) + rate * save)",
                {{"work", process.work}, {"rate", rate}, {"restore", process.restore}, {"save", process.save}});
    }
    return time;
  }
  const double segment = s(plan.interval) + process.save;
  const double last = last_segment(process, plan);
  const double again = std::exp(rate * process.restore);
  const double time = ((plan.segments - 1) * std::expm1(rate * segment) + std::expm1(rate * last)) * again / rate;
  if (why) {
    why->term(
        "spot.billed", seconds(time),
        "((segments - 1) * (exp(rate * (interval + save)) - 1) + exp(rate * last) - 1) * exp(rate * restore) / rate",
        {{"segments", plan.segments},
         {"rate", rate},
         {"interval", s(plan.interval)},
         {"save", process.save},
         {"last", last},
         {"restore", process.restore}});
  }
  return time;
}

// Stops after a longest run save, wait and restore. A run ends so with the chance that nothing comes before.
bool add_planned_stops(const SpotInputs& in, const Process& process, SpotPlan& plan) {
  const double run = s(in.maximum_run);
  if (run <= 0 || s(plan.billed) <= run) return true;
  const double each = process.save + process.restore;
  if (each >= run) return false;
  if (process.rate <= 0) {
    const double left = process.work - (run - process.save);
    plan.planned_stops = 1 + std::max(0.0, std::ceil((left - (run - process.restore)) / (run - each) - 1e-9));
    plan.billed += plan.planned_stops * seconds(each);
    return true;
  }
  const double a_second = process.rate / std::expm1(process.rate * run);
  if (a_second * each >= 1) return false;
  plan.billed = plan.billed / (1 - a_second * each);
  plan.planned_stops = a_second * s(plan.billed);
  return true;
}

bool finishes(const Process& process, const SpotPlan& plan) {
  const double window = process.warned ? process.restore : process.restore + s(plan.interval) + process.save;
  return process.rate * window < kHopeless;
}

}  // namespace

std::string_view to_string(SpotVerdict value) {
  switch (value) {
    case SpotVerdict::wins:
      return "wins";
    case SpotVerdict::loses:
      return "loses";
    case SpotVerdict::never_finishes:
      return "never_finishes";
  }
  return {};
}

SpotPlan plan_spot(const SpotInputs& in, Explain* why) {
  for (const Seconds time : {in.work, in.save, in.restore, in.wait, in.mtbf, in.notice, in.maximum_run, in.step}) {
    GPUPLAN_ASSERT(std::isfinite(s(time)) && time >= Seconds{}, "times of a plan are finite and not negative");
  }
  GPUPLAN_ASSERT(in.work > Seconds{} && in.instances >= 1, "something has to be done on something");
  const Process process(in);
  SpotPlan plan;
  plan.interval = plan.best_interval = plan.billed = plan.elapsed = in.work;
  if (process.rate > 0) {
    plan.job_mtbf = seconds(1 / process.rate);
    if (!process.warned) choose_interval(in, process, plan, why);
    if (!finishes(process, plan)) {
      plan.verdict = SpotVerdict::never_finishes;
      return plan;
    }
    plan.billed = seconds(expected_time(process, plan, why));
    plan.interruptions = process.warned ? process.rate * process.work * std::exp(process.rate * process.restore)
                                        : process.rate * s(plan.billed);
  }
  if (!add_planned_stops(in, process, plan)) {
    plan.verdict = SpotVerdict::never_finishes;
    return plan;
  }
  plan.elapsed = plan.billed + (plan.interruptions + plan.planned_stops) * in.wait;
  plan.inflation = plan.billed / in.work;
  plan.cost_ratio = in.price_ratio * plan.inflation;
  plan.verdict =
      plan.cost_ratio < 1 || (process.rate <= 0 && in.price_ratio <= 1) ? SpotVerdict::wins : SpotVerdict::loses;
  return plan;
}

std::optional<Seconds> break_even_mtbf(const SpotInputs& in) {
  SpotInputs trial = in;
  const auto wins = [&](double mtbf) {
    trial.mtbf = seconds(mtbf);
    return plan_spot(trial, nullptr).verdict == SpotVerdict::wins;
  };
  double low = 1;  // a second
  double high = 1e12;
  if (!wins(high) || wins(low)) return std::nullopt;
  for (int i = 0; i < 60 && high / low > 1 + 1e-6; ++i) {
    const double middle = std::sqrt(low * high);
    (wins(middle) ? high : low) = middle;
  }
  return seconds(high);
}

SpotQuantiles spot_quantiles(const SpotInputs& in, const SpotPlan& plan) {
  if (plan.verdict == SpotVerdict::never_finishes || plan.job_mtbf <= Seconds{}) {
    return {plan.billed, plan.billed, plan.elapsed, plan.elapsed};
  }
  const Process process(in);
  const auto added = [&](double wait) {
    if (process.warned) {
      return InterruptionTime::of_warned(process.rate, process.work, process.save, process.restore, wait);
    }
    return InterruptionTime::of_segments(process.rate, plan.segments - 1, s(plan.interval) + process.save,
                                         last_segment(process, plan), process.restore, wait);
  };
  const double undisturbed = process.work + (process.warned ? 0 : (plan.segments - 1) * process.save);
  const InterruptionTime billed = added(0);
  const InterruptionTime elapsed = added(process.wait);
  // Stops after a longest run come as they are expected.
  const double factor = s(plan.billed) / (undisturbed + billed.mean());
  const auto billed_at = [&](double p) { return seconds((undisturbed + billed.quantile(p)) * factor); };
  const auto elapsed_at = [&](double p) {
    return seconds(undisturbed + elapsed.quantile(p) + (undisturbed + billed.mean()) * (factor - 1)) +
           plan.planned_stops * in.wait;
  };
  const Seconds p50 = billed_at(0.5);
  const Seconds p90 = billed_at(0.9);
  if (process.wait <= 0 && plan.planned_stops <= 0) return {p50, p90, p50, p90};
  return {p50, p90, elapsed_at(0.5), elapsed_at(0.9)};
}

Seconds mtbf_of_monthly_share(double share, Seconds month) {
  GPUPLAN_ASSERT(share > 0 && share < 1, "a share that is interrupted is between none and all");
  return month / -std::log1p(-share);
}

}  // namespace gpuplan
