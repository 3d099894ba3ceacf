#include "catch.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/catalog/use_cases.hpp>
#include <gpuplan/planner/use_case.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace gpuplan;

namespace {

std::vector<UseCase> read(const std::string& text) {
  return read_use_cases(parse_yaml(text, "mine.yaml"), "mine.yaml");
}

std::string problem_of(const std::string& text) {
  try {
    (void)read(text);
  } catch (const InputError& error) {
    return error.problems().front().id;
  }
  return "";
}

}  // namespace

TEST_CASE("use cases: the built-in ones say where each figure is from", "[catalog]") {
  const auto all = load_use_cases();
  for (const char* name : {"chat", "rag", "code", "agent", "summarize", "batch"}) {
    CAPTURE(name);
    const UseCase* use = find_use_case(all, name);
    REQUIRE(use);
    CHECK(use->active_share.value() > 0);
    CHECK(use->input.value() > 0);
    CHECK(use->output.value() > 0);
    CHECK(use->think.has_value());
    CHECK(use->observed_on.size() == 10);
    const auto assumed = [&](const char* field) {
      return std::find(use->assumed.begin(), use->assumed.end(), field) != use->assumed.end();
    };
    // Nobody measured how many of somebody's people work at once.
    CHECK((assumed("active_share") || assumed("all")));
    CHECK((use->source == "assumption") == assumed("all"));
  }
  // The trace's own figures: Azure's hour of completions has 8,819 requests with 2,048 and 28 tokens in the mean.
  CHECK(find_use_case(all, "completion")->input == 2048);
  CHECK(find_use_case(all, "code")->output == 28);
}

TEST_CASE("use cases: what is wrong with a record is told", "[catalog]") {
  const std::string good = "use_cases: [{name: a, title: t, notes: n, source: s, active_share: 0.5}]\n";
  CHECK(read(good).front().active_share == 0.5);
  CHECK(problem_of("use_cases: [{name: a, title: t, notes: n, source: s, active_share: 1.5}]\n") == "input.bad_value");
  CHECK(problem_of("use_cases: [{name: a, title: t, notes: n, source: s, inptu: 5}]\n") == "input.unknown_key");
  CHECK(
      problem_of("use_cases: [{name: a, title: t, notes: n, source: s}, {name: A, title: t, notes: n, source: s}]\n") ==
      "input.duplicate_name");
}

TEST_CASE("use cases: fill in what the user left open", "[planner]") {
  const auto all = load_use_cases();
  const UseCase& chat = *find_use_case(all, "chat");
  JobSpec job;
  job.load.use_case = "chat";
  job.output = {99, false};
  job.load.targets.ttft.choose(seconds(9));
  JobSpec alone = job;
  apply_use_case(all, alone);
  CHECK(alone.input.value == *chat.input);
  CHECK(alone.input.is_default);
  CHECK(alone.output.value == 99);
  CHECK((*alone.load.targets.ttft).base() == 9);
  CHECK_FALSE(alone.load.targets.ttft.is_default);
  CHECK((*alone.load.targets.tpot).base() == chat.tpot->base());
  CHECK(alone.load.targets.tpot.is_default);
  CHECK_FALSE(alone.load.think.has_value());  // without users there is no pause
  job.load.users = 50;
  apply_use_case(all, job);
  CHECK((*job.load.think).base() == chat.think->base());
  CHECK(job.load.active_users() == Approx(50 * *chat.active_share));
  job.load.use_case = "chta";
  CHECK_THROWS_AS(apply_use_case(all, job), InputError);
}
