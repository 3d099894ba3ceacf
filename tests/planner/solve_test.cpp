// The load question the other way round, against the estimate itself.

#include "small_market.hpp"

#include <gpuplan/planner/solve.hpp>

#include "catch.hpp"

#include <cmath>
#include <string>

namespace gpuplan::testing {
namespace {

const Catalog& market() {
  static const Catalog catalog = small_market(usual_offers());
  return catalog;
}

EstimateRequest on(const char* accelerator, std::int64_t count) {
  EstimateRequest request = request_of("eight");
  request.job.concurrency.is_default = true;
  request.job.input = {1024, false};
  request.job.output = {128, false};
  request.accelerators = {market().find_accelerator(accelerator)};
  request.count = count;
  request.job.load.targets.tpot.choose(milliseconds(26));
  return request;
}

}  // namespace

TEST_CASE("solve: as many users as are carried, and not one more", "[planner]") {
  EstimateRequest request = on("big", 1);
  request.job.load.active_share.choose(0.5);
  request.job.load.think.choose(seconds(10));
  const LoadAnswer answer = answer_load(market(), request, LoadQuestion::users);
  REQUIRE(answer.accelerator);
  CHECK(answer.layout.devices() == 1);
  request.job.load.users = static_cast<std::int64_t>(answer.value);
  CHECK_FALSE(make_estimate(market(), request).options.empty());
  request.job.load.users = *request.job.load.users + 2;
  CHECK(make_estimate(market(), request).options.empty());
}

TEST_CASE("solve: requests a second grow with devices, and a spare one carries nothing", "[planner]") {
  const auto carried = [](const EstimateRequest& request) {
    return answer_load(market(), request, LoadQuestion::requests_per_second).value;
  };
  EstimateRequest request = on("big", 2);
  const double two = carried(request);
  request.count = 1;
  const double one = carried(request);
  CHECK(two >= 2 * one * 0.999);  // two replicas, or one that is wider
  request.count = 2;
  request.job.load.spare_replica = true;
  CHECK(carried(request) == Approx(one).epsilon(1e-6));
  request.count = 1;
  const LoadAnswer none = answer_load(market(), request, LoadQuestion::requests_per_second);
  CHECK_FALSE(none.accelerator);
  CHECK(carried(on("small", 4)) < carried(on("big", 4)));
}

TEST_CASE("solve: the answer is an estimate's load, and bound by what it names", "[planner]") {
  const EstimateRequest request = on("middle", 2);
  const LoadAnswer answer = answer_load(market(), request, LoadQuestion::requests_per_second);
  REQUIRE(answer.accelerator);
  CHECK(answer.bound == "engine");  // six sequences at once are what the market's engine runs
  const Estimate estimate = make_estimate(market(), with_answer(request, answer));
  REQUIRE_FALSE(estimate.options.empty());
  CHECK(estimate.options.front().devices == 2);
  EstimateRequest tight = request;
  tight.job.load.targets.tpot.choose(milliseconds(15));
  const LoadAnswer bound = answer_load(market(), tight, LoadQuestion::requests_per_second);
  CHECK(bound.value < answer.value);
  CHECK((!bound.accelerator || bound.bound == "tpot"));
}

TEST_CASE("solve: the longest context is what memory holds", "[planner]") {
  const LoadAnswer answer = answer_load(market(), on("small", 1), LoadQuestion::context);
  REQUIRE(answer.accelerator);
  CHECK(answer.bound == "memory");
  EstimateRequest request = on("small", 1);
  request.job.context = {static_cast<std::int64_t>(answer.value) + 64, false};
  CHECK(fit_job(market(), request).hardware.front().rejection);
}

TEST_CASE("solve: questions have names", "[planner]") {
  for (const auto question : {LoadQuestion::users, LoadQuestion::requests_per_second, LoadQuestion::context})
    CHECK(parse_load_question(to_string(question)).value == question);
  CHECK(parse_load_question("user").nearest == "users");
}

}  // namespace gpuplan::testing
