// How much a replica carries within targets, and how many replicas a load makes.

#include "small_market.hpp"

#include <gpuplan/perf/queueing.hpp>

#include "catch.hpp"
#include "explanations.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace gpuplan::testing {
namespace {

const Catalog& market() {
  static const Catalog catalog = small_market(usual_offers());
  return catalog;
}

EstimateRequest loaded(const std::string& model = "eight", const std::string& dtype = "bf16") {
  EstimateRequest request = request_of(model, dtype);
  request.job.concurrency.is_default = true;
  request.job.input = {1024, false};
  request.job.output = {128, false};
  return request;
}

// Of one replica of the option, with so many requests running.
ServingTime time_of(const EstimateRequest& request, const Estimate& estimate, const Option& option, double running) {
  const Ceilings ceilings(market());
  ServingJob job{&estimate.model, estimate.engine, estimate.request};
  job.prefix_hit = request.job.load.prefix_hit.value.value_or(0);
  ServingCandidate candidate{option.accelerator, option.fabric, option.layout, std::max(running, 1.0)};
  candidate.arrivals = request.job.load.arrives();
  return serving_time(job, candidate, ceilings, nullptr);
}

double cheapest(const EstimateRequest& request) {
  const Estimate estimate = make_estimate(market(), request);
  double least = INFINITY;
  for (const Option& option : estimate.options) least = std::min(least, option.per_month);
  return least;
}

std::optional<Rejection> rejection_of(const Estimate& estimate, std::string_view offer) {
  for (const RejectedOffer& rejected : estimate.rejected) {
    if (rejected.offer->id == offer) return rejected.rejection;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("load: the limit of a replica is the last load that holds the target", "[planner]") {
  EstimateRequest request = loaded();
  request.job.load.targets.tpot.choose(milliseconds(26));
  const Estimate estimate = make_estimate(market(), request);
  REQUIRE_FALSE(estimate.options.empty());
  bool bound_by_target = false;
  for (const Option& option : estimate.options) {
    CAPTURE(std::string(option.offer->id));
    const double limit = option.carried.limit.in_flight;
    CHECK(time_of(request, estimate, option, limit).tpot.value <= milliseconds(26));
    CHECK(option.at.tpot.value <= milliseconds(26));
    REQUIRE(option.carried.slo);
    CHECK(option.carried.slo->margin() >= 0);
    if (option.carried.bound != LoadBound::tpot) {
      CHECK(limit == static_cast<double>(option.max_concurrency));
      continue;
    }
    bound_by_target = true;
    CHECK(time_of(request, estimate, option, limit + 1).tpot.value > milliseconds(26));
  }
  CHECK(bound_by_target);
}

TEST_CASE("load: requests in flight make as many replicas as the limit asks for", "[planner]") {
  EstimateRequest request = loaded();
  request.job.concurrency = {30, false};
  request.job.load.targets.tpot.choose(milliseconds(26));
  for (const Option& option : make_estimate(market(), request).options) {
    CAPTURE(std::string(option.offer->id));
    const auto limit = static_cast<std::int64_t>(option.carried.limit.in_flight);
    CHECK(option.carried.replicas_needed == (30 + limit - 1) / limit);
    CHECK(option.layout.dp >= option.carried.replicas_needed);
    CHECK(option.carried.at.in_flight <= option.carried.limit.in_flight);
  }
}

TEST_CASE("load: an option that misses a target with one request is rejected with the numbers", "[planner]") {
  EstimateRequest request = loaded();
  // 15 GB of weights over 8 x 3,350 GB/s take 0.56 ms, and 65 all-reduces of 15 µs at least another: nothing is so fast.
  request.job.load.targets.tpot.choose(milliseconds(1));
  const Estimate estimate = make_estimate(market(), request);
  CHECK(estimate.options.empty());
  const auto rejection = rejection_of(estimate, "big-1");
  REQUIRE(rejection);
  CHECK(rejection->rule == "slo");
  CHECK(rejection->needed == "TPOT of at most 1.00 ms");
  CHECK(rejection->available.find("for one request alone on") != std::string::npos);
  CHECK(rejection->smallest_change.find("--tpot") != std::string::npos);
  for (const HardwareFit& fit : estimate.hardware) {
    REQUIRE(fit.rejection);
    CHECK(fit.rejection->rule == "slo");
  }
}

TEST_CASE("load: a target that one device misses takes a wider layout", "[planner]") {
  EstimateRequest request = loaded();
  request.accelerators = {market().find_accelerator("big")};
  request.job.load.targets.tpot.choose(milliseconds(5));  // 15 GB over 3,350 GB/s alone take 4.5 ms, over 0.8 of it 5.6
  const Estimate estimate = make_estimate(market(), request);
  REQUIRE_FALSE(estimate.options.empty());
  for (const Option& option : estimate.options) CHECK(option.layout.devices_per_replica() > 1);
}

TEST_CASE("load: what arrives is carried, and Little's law holds", "[planner]") {
  EstimateRequest request = loaded();
  request.job.load.request_rate = 7;
  const Estimate estimate = make_estimate(market(), request);
  REQUIRE_FALSE(estimate.options.empty());
  for (const Option& option : estimate.options) {
    CAPTURE(std::string(option.offer->id));
    const CarriedLoad& carried = option.carried;
    const double working = static_cast<double>(option.working());
    CHECK(carried.at.requests_per_second * working == Approx(7));
    CHECK(carried.limit.requests_per_second >= carried.at.requests_per_second * 0.999);
    CHECK(static_cast<double>(carried.replicas_needed) == std::ceil(7 / carried.limit.requests_per_second - 1e-9));
    const Seconds service = time_of(request, estimate, option, carried.at.running).e2e.value;
    // A part in a thousand is what the load is looked for to.
    CHECK(carried.at.running == Approx(carried.at.requests_per_second * service.base()).epsilon(2e-3));
    CHECK(carried.at.wait.base() ==
          Approx(mean_wait(option.max_concurrency, carried.at.running, service).base()).epsilon(1e-6));
    CHECK(option.at.e2e.value.base() == Approx((service + carried.at.wait).base()).epsilon(1e-6));
    CHECK(carried.at.in_flight == Approx(carried.at.requests_per_second * option.at.e2e.value.base()).epsilon(2e-3));
    CHECK(option.output_tokens_per_s() == Approx(7 * 128));
    CHECK(carried.limit.running < static_cast<double>(option.max_concurrency));  // else the queue had no end
  }
}

TEST_CASE("load: users ask, wait, read and ask again", "[planner]") {
  EstimateRequest request = loaded();
  request.job.load.users = 400;
  request.job.load.active_share.choose(0.25);
  request.job.load.think.choose(seconds(20));
  const Estimate estimate = make_estimate(market(), request);
  REQUIRE_FALSE(estimate.options.empty());
  for (const Option& option : estimate.options) {
    CAPTURE(std::string(option.offer->id));
    const double working = static_cast<double>(option.working());
    // 100 active users; each asks once in 20 s and the time of an answer.
    const double rate = 100 / (20 + option.at.e2e.value.base());
    CHECK(option.carried.at.requests_per_second * working == Approx(rate).epsilon(3e-3));
    CHECK(option.carried.at.active_users * working == Approx(100).epsilon(2e-3));
    CHECK(option.carried.limit.active_users * working >= 99.9);
  }
}

TEST_CASE("load: a spare replica is one more, and the load is that of the others", "[planner]") {
  EstimateRequest request = loaded();
  request.accelerators = {market().find_accelerator("big")};
  request.job.load.request_rate = 7;
  const Estimate plain = make_estimate(market(), request);
  request.job.load.spare_replica = true;
  const Estimate safe = make_estimate(market(), request);
  const auto of = [](const Estimate& estimate, std::string_view id) -> const Option& {
    return *std::find_if(estimate.options.begin(), estimate.options.end(),
                         [&](const Option& option) { return option.offer->id == id; });
  };
  const Option& one = of(plain, "big-1");
  const Option& two = of(safe, "big-1");
  CHECK(two.layout.dp == one.layout.dp + 1);
  CHECK(two.carried.replicas_needed == one.carried.replicas_needed);
  CHECK(two.carried.at.requests_per_second == Approx(one.carried.at.requests_per_second));
  CHECK(two.output_tokens_per_s() == Approx(one.output_tokens_per_s()));
  CHECK(two.per_hour > one.per_hour);
}

TEST_CASE("load: a tighter target and a larger load are never cheaper", "[planner]") {
  EstimateRequest request = loaded();
  request.job.load.request_rate = 6;
  double last = 0;
  for (const double target : {2000.0, 40.0, 30.0, 25.0, 20.0, 15.0}) {
    request.job.load.targets.tpot.choose(milliseconds(target));
    const double month = cheapest(request);
    CHECK(month >= last);
    last = month;
  }
  last = 0;
  request.job.load.targets.tpot.choose(milliseconds(30));
  for (const double rate : {0.001, 0.5, 2.0, 8.0, 32.0, 200.0}) {
    request.job.load.request_rate = rate;
    const double month = cheapest(request);
    CHECK(month >= last);
    last = month;
  }
}

TEST_CASE("load: a prefix in the cache carries more, a draft that guesses right answers faster", "[planner]") {
  EstimateRequest request = loaded("seventy");
  request.accelerators = {market().find_accelerator("big")};
  request.job.load.request_rate = 2;
  const auto best = [&] { return make_estimate(market(), request).options.front(); };
  const Option plain = best();
  request.job.load.prefix_hit.choose(0.9);
  const Option cached = best();
  CHECK(cached.carried.limit.requests_per_second > plain.carried.limit.requests_per_second);
  CHECK(cached.alone.ttft.value < plain.alone.ttft.value);
  request.job.load.prefix_hit = {};
  request.job.load.draft_tokens = 4;
  request.job.load.acceptance = 0.8;
  const Option guessed = best();
  request.job.residency.draft = "eight";
  const Option drafted = best();
  CHECK(guessed.alone.tpot.value < plain.alone.tpot.value);
  CHECK(drafted.alone.tpot.value > guessed.alone.tpot.value);
  CHECK(drafted.alone.tpot.value < plain.alone.tpot.value);
  // A draft reads 15 GB for a guess where the model reads 141 GB for a step: at most four tenths more for four guesses.
  CHECK(drafted.alone.tpot.value / guessed.alone.tpot.value < 1.6);
}

TEST_CASE("load: the explanation of a load can be executed", "[planner]") {
  EstimateRequest request = loaded();
  request.job.load.users = 300;
  request.job.load.think.choose(seconds(15));
  request.job.load.draft_tokens = 2;
  request.job.load.acceptance = 0.6;
  const Estimate estimate = make_estimate(market(), request);
  Explain why;
  explain_option(market(), request, estimate, estimate.options.front(), why);
  check_formulas(why);
  const auto named = [&](std::string_view id) {
    return std::any_of(why.terms().begin(), why.terms().end(),
                       [&](const ExplainedTerm& term) { return term.id == id; });
  };
  CHECK(named("load.wait"));
  CHECK(named("load.active_users"));
  CHECK(named("time.draft"));
}

}  // namespace gpuplan::testing
