#include "catalogues.hpp"
#include "catch.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/planner/use_case.hpp>

#include <string>

using namespace gpuplan;
using namespace gpuplan::testing;

namespace {

std::string problem_of(const std::string& text) {
  try {
    (void)with_overlay(text);
  } catch (const InputError& error) {
    return error.problems().front().message;
  }
  return "";
}

}  // namespace

TEST_CASE("use cases: the built-in ones say where each figure is from", "[catalog]") {
  for (const char* name : {"chat", "rag", "code", "agent", "summarize", "batch"}) {
    CAPTURE(name);
    const UseCase* use = built_in().find_use_case(name);
    REQUIRE(use);
    CHECK(*use->active_share > 0);
    CHECK(*use->input > 0);
    CHECK(*use->output > 0);
    CHECK(use->think.known());
    // Nobody measured how many of somebody's people work at once.
    CHECK(use->active_share.mark == Mark::from_memory);
    const bool assumed = built_in().source(use->source).text == "assumption";
    CHECK(assumed == (use->input.mark == Mark::from_memory && use->output.mark == Mark::from_memory));
  }
  // The trace's own figures: Azure's hour of completions has 8,819 requests with 2,048 and 28 tokens in the mean.
  CHECK(*built_in().find_use_case("completion")->input == 2048);
  CHECK(*built_in().find_use_case("code")->output == 28);
}

TEST_CASE("use cases: a file of one's own changes one or adds one", "[catalog]") {
  const Catalog mine = with_overlay(
      "use_cases:\n  - {name: chat, think_s: 30}\n"
      "  - {name: helpdesk, title: t, input: 700, output: 90, notes: n, source: s, observed_on: 2026-11-30}\n");
  CHECK(mine.find_use_case("chat")->think.value.base() == 30);
  CHECK(*mine.find_use_case("chat")->output == *built_in().find_use_case("chat")->output);
  JobSpec job;
  job.load.use_case = "helpdesk";
  apply_use_case(mine, job);
  CHECK(job.input.value == 700);
}

TEST_CASE("use cases: what is wrong with a record is told", "[catalog]") {
  CHECK(problem_of("use_cases:\n  - {name: chat, active_share: 1.5}\n") ==
        "use case 'chat' has more than all as active_share");
  CHECK(problem_of("use_cases:\n  - {name: chat, inptu: 5}\n").find("inptu") != std::string::npos);
  CHECK(problem_of("use_cases:\n  - {name: chat, input: 0}\n") != "");
}

TEST_CASE("use cases: fill in what the user left open", "[planner]") {
  const UseCase& chat = *built_in().find_use_case("chat");
  JobSpec job;
  job.load.use_case = "chat";
  job.output = {99, false};
  job.load.targets.ttft.choose(seconds(9));
  JobSpec alone = job;
  apply_use_case(built_in(), alone);
  CHECK(alone.input.value == *chat.input);
  CHECK(alone.input.is_default);
  CHECK(alone.output.value == 99);
  CHECK((*alone.load.targets.ttft).base() == 9);
  CHECK_FALSE(alone.load.targets.ttft.is_default);
  CHECK((*alone.load.targets.tpot).base() == chat.tpot.value.base());
  CHECK(alone.load.targets.tpot.is_default);
  CHECK_FALSE(alone.load.think.has_value());  // without users there is no pause
  job.load.users = 50;
  apply_use_case(built_in(), job);
  CHECK((*job.load.think).base() == chat.think.value.base());
  CHECK(job.load.active_users() == Approx(50 * *chat.active_share));
  job.load.use_case = "chta";
  CHECK_THROWS_AS(apply_use_case(built_in(), job), InputError);
}
