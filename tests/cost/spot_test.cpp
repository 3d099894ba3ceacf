#include <gpuplan/cost/spot.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpuplan::testing {
namespace {

double s(Seconds time) { return time / seconds(1); }

struct Run {
  double billed = 0, elapsed = 0;
};

// The same process step by step, by another way: a clock that runs to the next interruption.
Run simulate(const SpotInputs& in, const SpotPlan& plan, Dice& dice) {
  const double rate = s(plan.job_mtbf) > 0 ? 1 / s(plan.job_mtbf) : 0;
  const auto next = [&] { return rate > 0 ? -std::log(1 - dice.real(0, 1)) / rate : 1e300; };
  const bool warned = in.notice > Seconds{} && in.notice >= in.save;
  Run run;
  double done = 0;
  double left = next();
  bool restoring = false;
  const auto interrupted = [&] {
    run.elapsed += s(in.wait);
    left = next();
    restoring = true;
  };
  while (done < s(in.work)) {
    if (restoring) {
      const double spent = std::min(left, s(in.restore));
      run.billed += spent;
      left -= spent;
      if (spent < s(in.restore)) {
        interrupted();
        continue;
      }
      restoring = false;
    }
    const double segment = warned ? s(in.work) - done : std::min(s(plan.interval), s(in.work) - done);
    const bool is_last = done + segment >= s(in.work) * (1 - 1e-12);
    const double needed = segment + (is_last || warned ? 0 : s(in.save));
    const double spent = std::min(left, needed);
    run.billed += spent;
    left -= spent;
    if (spent >= needed) {
      done += segment;
      if (is_last) break;
      continue;
    }
    if (warned) {
      done += spent;
      run.billed += s(in.save);
    }
    interrupted();
  }
  run.elapsed += run.billed;
  return run;
}

struct Simulated {
  double mean_billed = 0, mean_elapsed = 0, billed_p50 = 0, billed_p90 = 0, elapsed_p90 = 0;
};
Simulated simulate_many(const SpotInputs& in, const SpotPlan& plan, int runs) {
  Dice dice(20261130);
  std::vector<double> billed;
  std::vector<double> elapsed;
  Simulated all;
  for (int i = 0; i < runs; ++i) {
    const Run run = simulate(in, plan, dice);
    billed.push_back(run.billed);
    elapsed.push_back(run.elapsed);
    all.mean_billed += run.billed / runs;
    all.mean_elapsed += run.elapsed / runs;
  }
  std::sort(billed.begin(), billed.end());
  std::sort(elapsed.begin(), elapsed.end());
  const auto at = [&](const std::vector<double>& sorted, double p) {
    return sorted[static_cast<std::size_t>(p * static_cast<double>(runs))];
  };
  all.billed_p50 = at(billed, 0.5);
  all.billed_p90 = at(billed, 0.9);
  all.elapsed_p90 = at(elapsed, 0.9);
  return all;
}

SpotInputs job(Seconds work, Seconds save, Seconds restore, Seconds mtbf) {
  SpotInputs in;
  in.work = work;
  in.save = save;
  in.restore = restore;
  in.mtbf = mtbf;
  return in;
}

}  // namespace

TEST_CASE("spot: two minutes to save and six hours between interruptions make 2,277 seconds", "[cost]") {
  const SpotPlan plan = plan_spot(job(days(10), seconds(120), {}, hours(6)), nullptr);
  CHECK(s(plan.interval) == Approx(2277).margin(0.5));  // sqrt(2 * 120 * 21600) = 2276.84
}

TEST_CASE("spot: with 600 seconds to restore and steps of 15 seconds it is saved every 24 steps", "[cost]") {
  SpotInputs in = job(days(1), seconds(10), seconds(600), seconds(6000));
  in.step = seconds(15);
  const SpotPlan plan = plan_spot(in, nullptr);
  CHECK(plan.steps == 24);  // sqrt(2 * 10 * 6600) = 363.3 = 24.2 steps
  CHECK(s(plan.interval) == Approx(360));
}

TEST_CASE("spot: without interruptions the price is the plain one", "[cost]") {
  SpotInputs in = job(hours(50), seconds(120), seconds(600), {});
  in.price_ratio = 0.4;
  const SpotPlan plan = plan_spot(in, nullptr);
  CHECK(s(plan.billed) == s(in.work));
  CHECK(s(plan.elapsed) == s(in.work));
  CHECK(plan.cost_ratio == Approx(0.4));
  CHECK(plan.interruptions == 0);
  CHECK(plan.verdict == SpotVerdict::wins);
  const SpotQuantiles quantiles = spot_quantiles(in, plan);
  CHECK(s(quantiles.billed_p90) == s(in.work));
}

TEST_CASE("spot: ever rarer interruptions end in the plain price", "[cost]") {
  const SpotPlan plan = plan_spot(job(hours(5), seconds(120), seconds(600), hours(1e7)), nullptr);
  CHECK(plan.inflation == Approx(1).epsilon(1e-5));
}

TEST_CASE("spot: expectation and quantiles are those of the simulated process", "[cost][slow]") {
  struct Row {
    const char* what;
    double work_h, save_s, restore_s, wait_s, mtbf_h;
    std::int64_t instances;
  };
  for (const Row& row :
       {Row{"hours on one machine", 10, 120, 600, 0, 6, 1}, Row{"a wait for capacity", 10, 120, 300, 1800, 3, 1},
        Row{"hardly interrupted", 2, 60, 300, 60, 8, 1}, Row{"eight machines", 48, 60, 400, 120, 24, 8},
        Row{"interrupted all the time", 6, 60, 200, 30, 0.2, 1}, Row{"a long job", 400, 120, 600, 0, 6, 1}}) {
    SpotInputs in = job(hours(row.work_h), seconds(row.save_s), seconds(row.restore_s), hours(row.mtbf_h));
    in.wait = seconds(row.wait_s);
    in.instances = row.instances;
    const SpotPlan plan = plan_spot(in, nullptr);
    const SpotQuantiles quantiles = spot_quantiles(in, plan);
    const Simulated seen = simulate_many(in, plan, row.work_h > 100 ? 20000 : 200000);
    CAPTURE(row.what);
    CHECK(s(plan.billed) == Approx(seen.mean_billed).epsilon(0.01));
    CHECK(s(plan.elapsed) == Approx(seen.mean_elapsed).epsilon(0.01));
    CHECK(s(quantiles.billed_p50) == Approx(seen.billed_p50).epsilon(0.01));
    CHECK(s(quantiles.billed_p90) == Approx(seen.billed_p90).epsilon(0.01));
    CHECK(s(quantiles.elapsed_p90) == Approx(seen.elapsed_p90).epsilon(0.01));
  }
}

TEST_CASE("spot: a warning that is long enough loses no work", "[cost][slow]") {
  SpotInputs in = job(hours(20), seconds(20), seconds(300), hours(2));
  in.notice = seconds(120);
  in.wait = seconds(600);
  const SpotPlan plan = plan_spot(in, nullptr);
  const Simulated seen = simulate_many(in, plan, 100000);
  CHECK(s(plan.billed) == Approx(seen.mean_billed).epsilon(0.01));
  CHECK(s(plan.elapsed) == Approx(seen.mean_elapsed).epsilon(0.01));
  const SpotQuantiles quantiles = spot_quantiles(in, plan);
  CHECK(s(quantiles.billed_p50) == Approx(seen.billed_p50).epsilon(0.01));
  CHECK(s(quantiles.elapsed_p90) == Approx(seen.elapsed_p90).epsilon(0.01));
  in.notice = seconds(10);  // too short to save
  CHECK(plan_spot(in, nullptr).billed > plan.billed);
}

TEST_CASE("spot: of several machines the job stops when any one does", "[cost]") {
  SpotInputs in = job(hours(100), seconds(60), seconds(300), hours(80));
  in.instances = 8;
  CHECK(s(plan_spot(in, nullptr).job_mtbf) == Approx(36000));  // 80 h / 8
  in.correlation = 1;                                          // all go at once
  CHECK(s(plan_spot(in, nullptr).job_mtbf) == Approx(288000));
  in.correlation = 0.5;  // 0.5 + 8 * 0.5 = 4.5 of one machine's
  CHECK(s(plan_spot(in, nullptr).job_mtbf) == Approx(288000 / 4.5));
}

TEST_CASE("spot: the best interval is best", "[cost]") {
  for (const double mtbf : {600.0, 6000.0, 60000.0}) {
    SpotInputs in = job(days(3), seconds(30), seconds(300), seconds(mtbf));
    const SpotPlan plan = plan_spot(in, nullptr);
    SpotInputs other = in;
    other.interval = plan.best_interval;
    const double best = s(plan_spot(other, nullptr).billed);
    CHECK(s(plan.billed) <= best * 1.011);
    for (const double factor : {0.5, 0.8, 1.25, 2.0}) {
      other.interval = factor * plan.best_interval;
      CHECK(s(plan_spot(other, nullptr).billed) >= best * (1 - 1e-3));  // the last segment is shorter
    }
  }
}

TEST_CASE("spot: it loses where interruptions eat the discount, and says from which rate on", "[cost]") {
  SpotInputs in = job(hours(100), seconds(600), seconds(1200), hours(1));
  in.price_ratio = 0.7;
  CHECK(plan_spot(in, nullptr).verdict == SpotVerdict::loses);
  in.mtbf = hours(100);
  CHECK(plan_spot(in, nullptr).verdict == SpotVerdict::wins);
  const auto limit = break_even_mtbf(in);
  REQUIRE(limit.has_value());
  in.mtbf = *limit;
  CHECK(plan_spot(in, nullptr).cost_ratio == Approx(1).epsilon(1e-4));
  in.price_ratio = 1.2;  // dearer than on demand
  CHECK(plan_spot(in, nullptr).verdict == SpotVerdict::loses);
  CHECK_FALSE(break_even_mtbf(in).has_value());
}

TEST_CASE("spot: a job that cannot save between interruptions never finishes", "[cost]") {
  const SpotPlan plan = plan_spot(job(hours(100), hours(2), hours(2), minutes(5)), nullptr);
  CHECK(plan.verdict == SpotVerdict::never_finishes);
  SpotInputs day = job(days(10), hours(13), hours(13), {});
  day.maximum_run = hours(24);
  CHECK(plan_spot(day, nullptr).verdict == SpotVerdict::never_finishes);
}

TEST_CASE("spot: a machine that is stopped every day saves and restores as often", "[cost]") {
  SpotInputs in = job(hours(70), minutes(10), minutes(20), {});
  in.maximum_run = hours(24);
  // 23 h 50 min of work, then restore and 23 h 30 min of work and save, and the rest: 22 h 40 min
  const SpotPlan plan = plan_spot(in, nullptr);
  CHECK(plan.planned_stops == 2);
  CHECK(s(plan.billed) == Approx(70 * 3600 + 2 * 1800));
  in.work = hours(24);
  CHECK(plan_spot(in, nullptr).planned_stops == 0);
  in.work = hours(70);
  in.mtbf = hours(1e6);  // the same, nearly without interruptions
  CHECK(plan_spot(in, nullptr).inflation == Approx(1 + 0.5 / 23.5).epsilon(0.01));
}

TEST_CASE("spot: more interruptions never make it cheaper or shorter", "[cost]") {
  Dice dice(7);
  for (int i = 0; i < 200; ++i) {
    SpotInputs in = job(hours(dice.real(0.1, 2000)), seconds(dice.real(0, 900)), seconds(dice.real(0, 1800)),
                        hours(dice.real(0.5, 500)));
    in.wait = seconds(dice.real(0, 900));
    SpotInputs rarer = in;
    rarer.mtbf = 2 * in.mtbf;
    const SpotPlan often = plan_spot(in, nullptr);
    const SpotPlan rare = plan_spot(rarer, nullptr);
    if (often.verdict == SpotVerdict::never_finishes) continue;
    CAPTURE(s(in.work), s(in.save), s(in.restore), s(in.mtbf));
    CHECK(s(often.billed) >= s(rare.billed) * (1 - 1e-3));
    CHECK(s(rare.billed) >= s(in.work) * (1 - 1e-9));
    const SpotQuantiles quantiles = spot_quantiles(in, often);
    CHECK(quantiles.billed_p50 <= quantiles.billed_p90);
    CHECK(quantiles.billed_p50 >= in.work * (1 - 1e-9));
    CHECK(quantiles.elapsed_p90 >= quantiles.billed_p90 * (1 - 1e-6));
    CHECK(std::isfinite(s(quantiles.elapsed_p90)));
  }
}

TEST_CASE("spot: every recorded formula gives its term, and recording changes nothing", "[cost]") {
  for (const double notice : {0.0, 300.0}) {
    SpotInputs in = job(hours(40), seconds(120), seconds(600), hours(6));
    in.notice = seconds(notice);
    Explain why;
    const SpotPlan plan = plan_spot(in, &why);
    check_formulas(why);
    CHECK(s(plan.billed) == s(plan_spot(in, nullptr).billed));
  }
}

TEST_CASE("spot: a monthly share of interrupted machines is a rate", "[cost]") {
  // 5 % a month: exp(-month / mtbf) = 0.95
  const Seconds mtbf = mtbf_of_monthly_share(0.05, hours(730));
  CHECK(std::exp(-730 / (mtbf / hours(1))) == Approx(0.95));
}

}  // namespace gpuplan::testing
