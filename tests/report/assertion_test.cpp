#include <gpuplan/report/render.hpp>

#include "catch.hpp"
#include "report/documents.hpp"

namespace gpuplan {
namespace {

bool holds(const char* expression) { return check_assertion(testing::estimate_document(), expression).holds; }

std::string problem_of(const char* expression) {
  try {
    (void)check_assertion(testing::estimate_document(), expression);
  } catch (const InputError& error) {
    return error.problems().front().id;
  }
  return "none";
}

}  // namespace

TEST_CASE("assertion: paths lead through objects, lists and terms by id", "[report]") {
  const char* expression =
      GENERATE("best.cost.per_month == 73", "options[0].cost.per_month == 73", "options[2].provider == 'beta'",
               "best.memory.terms.weights.bytes == 40e9", "options[1].memory.terms.kv_cache.high == 12e9",
               "best.cost.terms.compute.amount == best.cost.per_month", "options.size == 3", "job.context == 4096",
               "best.memory.verdict == 'fits' && best.rank == 1", "best.pareto == false", "currency == \"USD\"",
               "best.time.tpot_s_high / best.time.tpot_s_low == 4");
  CAPTURE(expression);
  CHECK(holds(expression));
}

TEST_CASE("assertion: an unknown value holds nothing but being null", "[report]") {
  CHECK_FALSE(holds("best.price.age_days < 90"));
  CHECK_FALSE(holds("best.price.age_days >= 90"));
  CHECK(holds("best.price.age_days == null"));
}

TEST_CASE("assertion: without any option nothing about the best one holds", "[report]") {
  EstimateDocument d = testing::estimate_document();
  d.options.clear();
  CHECK_FALSE(check_assertion(d, "best.cost.per_month <= 1e9").holds);
  CHECK(check_assertion(d, "options.size == 0").holds);
}

TEST_CASE("assertion: the values looked at are told, so that a log explains itself", "[report]") {
  const AssertionResult result =
      check_assertion(testing::estimate_document(), "best.cost.per_month <= 50 && best.memory.verdict == 'fits'");
  CHECK_FALSE(result.holds);
  CHECK(result.seen.substr(0, 25) == "best.cost.per_month is 73");
}

TEST_CASE("assertion: names that the report does not have are refused", "[report]") {
  const char* expression = GENERATE("best.prise < 3", "options[9].rank == 1", "options[x].rank == 1", "best < 3",
                                    "best.memory.terms.wheels.bytes < 1");
  CAPTURE(expression);
  const std::string id = problem_of(expression);
  CHECK((id == "expression.unknown_name" || id == "expression.syntax"));
}

TEST_CASE("assertion: what is no condition is refused", "[report]") {
  CHECK(problem_of("best.cost.per_month") == "expression.type");
  CHECK(problem_of("best.cost.per_month <") == "expression.syntax");
}

}  // namespace gpuplan
