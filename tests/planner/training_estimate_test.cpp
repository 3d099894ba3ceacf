#include <gpuplan/planner/positions.hpp>
#include <gpuplan/planner/training_estimate.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "explanations.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace gpuplan::testing {
namespace {

TrainingEstimateRequest request(TrainingMethod method, double tokens, std::optional<std::int64_t> count = {}) {
  TrainingEstimateRequest r;
  r.training.job.model = {"llama-3.1-8b", false};
  r.training.training.method = method;
  r.training.count = count;
  r.training.accelerators = {&gpu("H100-SXM5-80GB"), &gpu("A100-SXM4-80GB")};
  r.load.tokens = tokens;
  r.offers.as_of = {2026, 11, 30};
  return r;
}

const TrainingEstimate& eight_devices() {
  static const TrainingEstimate estimate = estimate_training(built_in(), request(TrainingMethod::full, 1e9, 8));
  return estimate;
}

}  // namespace

TEST_CASE("training estimate: terms of money add up, and options are ordered by them", "[planner]") {
  REQUIRE(eight_devices().options.size() > 5);
  double before = 0;
  for (const TrainingOption& option : eight_devices().options) {
    double sum = 0;
    for (const auto& term : option.cost.terms.terms()) sum += term.value;
    CHECK(sum == Approx(option.cost.p50()));
    CHECK(option.cost.p50() >= before);
    CHECK(option.cost.p50() <= option.cost.p90());
    before = option.cost.p50();
    CHECK(option.devices == 8);
    CHECK(option.job.devices() == 8);
    CHECK(option.total.low <= option.total.value);
    CHECK(option.total.value <= option.total.high);
    CHECK(option.total.value >= option.work.value);
    CHECK(option.memory.verdict != FitVerdict::does_not_fit);
  }
}

TEST_CASE("training estimate: twice the tokens take twice the steps and never less money", "[planner]") {
  const TrainingEstimate twice = estimate_training(built_in(), request(TrainingMethod::full, 2e9, 8));
  REQUIRE(twice.options.size() == eight_devices().options.size());
  CHECK(twice.options.front().cost.p50() >= eight_devices().options.front().cost.p50());
  const auto same = std::find_if(twice.options.begin(), twice.options.end(), [](const TrainingOption& o) {
    return o.offer == eight_devices().options.front().offer;
  });
  REQUIRE(same != twice.options.end());
  CHECK(same->work.value / eight_devices().options.front().work.value == Approx(2).epsilon(0.001));
}

TEST_CASE("training estimate: a tighter deadline never gets cheaper, and one that nobody keeps is said so",
          "[planner]") {
  TrainingEstimateRequest r = request(TrainingMethod::full, 1e9);
  double before = 0;
  for (const double allowed : {240.0, 48.0, 12.0}) {
    r.load.deadline = hours(allowed);
    const TrainingEstimate estimate = estimate_training(built_in(), r);
    REQUIRE_FALSE(estimate.options.empty());
    for (const TrainingOption& option : estimate.options) CHECK(option.total.value <= hours(allowed));
    CHECK(estimate.options.front().cost.p50() >= before);
    before = estimate.options.front().cost.p50();
  }
  r.training.count = 8;
  r.load.deadline = minutes(1);
  const TrainingEstimate late = estimate_training(built_in(), r);
  CHECK(late.options.empty());
  CHECK(late.limits_failed);
  CHECK(std::any_of(late.rejected.begin(), late.rejected.end(),
                    [](const RejectedOffer& o) { return o.rejection.rule == "deadline"; }));
}

TEST_CASE("training estimate: an offer more never makes the best option worse", "[planner]") {
  const Catalog more = with_overlay(
      "providers:\n  - name: newcomer\n    country: DE\n    offers:\n"
      "      - {id: newcomer/h100-x8, gpu: H100-SXM5-80GB, count: 8, scope: instance, contract: on_demand, price: 30, "
      "currency: USD, "
      "unit: hour, observed_on: 2026-11-01, source: \"https://newcomer.example\"}\n");
  TrainingEstimateRequest r = request(TrainingMethod::full, 1e9, 8);
  r.training.accelerators = {more.find_accelerator("H100-SXM5-80GB"), more.find_accelerator("A100-SXM4-80GB")};
  const TrainingEstimate estimate = estimate_training(more, r);
  CHECK(estimate.options.front().cost.p50() <= Approx(eight_devices().options.front().cost.p50()));
  CHECK(estimate.options.size() == eight_devices().options.size() + 1);
}

TEST_CASE("training estimate: every recorded formula gives its value", "[planner]") {
  const TrainingEstimateRequest r = request(TrainingMethod::full, 1e9, 8);
  Explain why;
  explain_training_option(built_in(), r, eight_devices(), eight_devices().options.front(), why);
  check_formulas(why);
}

TEST_CASE("training estimate: by default pretraining takes 20 tokens a parameter", "[planner]") {
  const TrainingEstimate estimate = estimate_training(built_in(), request(TrainingMethod::pretrain, 0, 64));
  CHECK(estimate.tokens == Approx(20.0 * 8030261248));
  CHECK(estimate.global_batch == 1024);  // 4,194,304 tokens of sequences of 4,096
}

TEST_CASE("positions: learned ones cannot be passed, others are told", "[planner]") {
  Architecture a;
  a.max_position = 1024;
  CHECK_FALSE(beyond_positions(a, 1024, "--seq"));
  const auto told = beyond_positions(a, 1025, "--seq");
  REQUIRE(told);
  CHECK(told->id == "model.positions");
  a.learned_positions = true;
  CHECK_THROWS_AS(beyond_positions(a, 1025, "--seq"), InputError);
  CHECK_FALSE(beyond_positions(a, 1024, "--seq"));
  a.max_position = 0;  // not known
  CHECK_FALSE(beyond_positions(a, 1 << 20, "--seq"));
}

}  // namespace gpuplan::testing
