#include <gpuplan/planner/batch_estimate.hpp>

#include "catch.hpp"
#include "explanations.hpp"
#include "small_market.hpp"

#include <algorithm>
#include <cmath>

namespace gpuplan::testing {
namespace {

Catalog market() {
  return small_market(
      {{"one-big", "big", 1, true, 2}, {"one-small", "small", 1, true, 0.3}, {"month", "big", 1, true, 700, true}});
}

EstimateRequest request_of(const Catalog&) {
  EstimateRequest request;
  request.job.type = {JobType::batch, false};
  request.job.model = {"eight", false};
  request.job.context = {1280, false};
  request.as_of = {2026, 11, 30};
  return request;
}

const BatchOption& option_of(const BatchEstimate& estimate, std::string_view id) {
  for (const BatchOption& option : estimate.options) {
    if (option.offer->id == id) return option;
  }
  throw std::runtime_error("no option " + std::string(id));
}

}  // namespace

TEST_CASE("batch estimate: the whole job is its requests over those in flight, a request's time each",
          "[planner][batch]") {
  const Catalog catalog = market();
  const BatchEstimate estimate = estimate_batch(catalog, request_of(catalog), {12000, {}, {}});
  const BatchOption& big = option_of(estimate, "one-big");
  // The engine of the small market runs at most six sequences, and more of them are more tokens a second: all six.
  CHECK(big.load == 6);
  CHECK(big.total.value / seconds(1) == Approx(12000 / 6.0 * (big.at.e2e.value / seconds(1))));
  CHECK(big.total.low <= big.total.value);
  CHECK(big.total.value <= big.total.high);
  // Hours are billed whole where nobody says otherwise.
  const double hours_used = std::ceil(big.total.value / hours(1));
  CHECK(big.cost.p50() == Approx(2 * hours_used));
  // A month is billed whole: 700 whatever the job takes of it.
  CHECK(option_of(estimate, "month").cost.p50() == Approx(700));
  // And what is used and what is not add up to that.
  CHECK(big.cost.terms.of("compute") == Approx(2 * (big.total.value / hours(1))));
}

TEST_CASE("batch estimate: a few requests take as long as one of them", "[planner][batch]") {
  const Catalog catalog = market();
  const BatchEstimate estimate = estimate_batch(catalog, request_of(catalog), {1, {}, {}});
  const BatchOption& big = option_of(estimate, "one-big");
  CHECK(big.load == 1);
  CHECK(big.total.value / seconds(1) == Approx(big.at.e2e.value / seconds(1)));
}

TEST_CASE("batch estimate: the best batch is no slower than any that is asked for", "[planner][batch]") {
  const Catalog catalog = market();
  const double best =
      option_of(estimate_batch(catalog, request_of(catalog), {1000, {}, {}}), "one-big").total.value.base();
  for (const std::int64_t batch : {1, 2, 3, 4, 5, 6}) {
    CAPTURE(batch);
    const BatchEstimate asked = estimate_batch(catalog, request_of(catalog), {1000, batch, {}});
    CHECK(option_of(asked, "one-big").load == static_cast<double>(batch));
    CHECK(option_of(asked, "one-big").total.value.base() >= best * (1 - 1e-12));
  }
  const BatchEstimate too_many = estimate_batch(catalog, request_of(catalog), {1000, 7, {}});
  CHECK(too_many.options.empty());
  REQUIRE_FALSE(too_many.fit.rejected.empty());
  CHECK(too_many.fit.rejected.front().rejection.rule == "memory");
}

TEST_CASE("batch estimate: a tighter deadline rents more and is never cheaper", "[planner][batch]") {
  const Catalog catalog = market();
  const EstimateRequest request = request_of(catalog);
  const Seconds alone = option_of(estimate_batch(catalog, request, {200000, {}, {}}), "one-big").total.value;
  double cheapest = 0;
  for (const double part : {1.0, 0.5, 0.3, 0.1, 0.02}) {
    CAPTURE(part);
    const Seconds deadline = alone * part;
    const BatchEstimate estimate = estimate_batch(catalog, request, {200000, {}, {deadline, {}}});
    const BatchOption& big = option_of(estimate, "one-big");
    CHECK(big.total.value <= deadline);
    CHECK(big.instances >= static_cast<std::int64_t>(std::floor(1 / part)));
    // One fewer would be late.
    CHECK(alone / static_cast<double>(std::max<std::int64_t>(1, big.instances - 1)) >= deadline * (1 - 1e-3));
    CHECK(estimate.options.front().cost.p50() >= cheapest * (1 - 1e-12));
    cheapest = estimate.options.front().cost.p50();
  }
}

TEST_CASE("batch estimate: what no option keeps is a deadline or a budget that failed", "[planner][batch]") {
  const Catalog catalog = market();
  const EstimateRequest request = request_of(catalog);
  const BatchEstimate late = estimate_batch(catalog, request, {1000, {}, {seconds(1e-3), {}}});
  CHECK(late.options.empty());
  CHECK(late.limits_failed);
  const BatchEstimate dear = estimate_batch(catalog, request, {1e6, {}, {{}, 0.01}});
  CHECK(dear.options.empty());
  CHECK(dear.limits_failed);
  CHECK(std::all_of(dear.fit.rejected.begin(), dear.fit.rejected.end(),
                    [](const RejectedOffer& r) { return r.rejection.rule == "budget"; }));
}

TEST_CASE("batch estimate: an explanation gives the same numbers", "[planner][batch]") {
  const Catalog catalog = market();
  const EstimateRequest request = request_of(catalog);
  const BatchEstimate estimate = estimate_batch(catalog, request, {12345, {}, {}});
  Explain why;
  explain_option(catalog, request, estimate, estimate.options.front(), why);
  check_formulas(why);
  const auto total = std::find_if(why.terms().begin(), why.terms().end(),
                                  [](const ExplainedTerm& term) { return term.id == "batch.total"; });
  REQUIRE(total != why.terms().end());
  CHECK(total->value == estimate.options.front().total.value.base());
}

}  // namespace gpuplan::testing
