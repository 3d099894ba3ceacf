#include "catch.hpp"

#include <gpuplan/job/job.hpp>

#include <string>
#include <vector>

using namespace gpuplan;

namespace {

std::vector<std::string> flags_of(const JobSpec& job) {
  std::vector<std::string> flags;
  for (const Problem& problem : check_job(job)) flags.push_back(problem.place.value().origin);
  return flags;
}
using Flags = std::vector<std::string>;

}  // namespace

TEST_CASE("load: three kinds of it exclude each other", "[job]") {
  JobSpec job;
  job.load.request_rate = 2;
  CHECK(flags_of(job).empty());
  job.load.users = 10;
  CHECK(flags_of(job) == Flags{"--request-rate"});
  job.load.request_rate.reset();
  job.concurrency = {8, false};
  CHECK(flags_of(job) == Flags{"--concurrency"});
}

TEST_CASE("load: pauses and shares of users need users", "[job]") {
  JobSpec job;
  job.load.think.choose(seconds(30));
  CHECK(flags_of(job) == Flags{"--think"});
  job.load.users = 200;
  job.load.active_share.choose(0.1);
  CHECK(flags_of(job).empty());
  CHECK(job.load.active_users() == Approx(20));
  job.load.active_share.choose(0);
  CHECK(flags_of(job) == Flags{"--active-share"});
}

TEST_CASE("load: speculation needs the number of guesses and their acceptance", "[job]") {
  JobSpec job;
  job.load.draft_tokens = 4;
  CHECK(flags_of(job) == Flags{"--draft-tokens"});
  job.load.acceptance = 0.7;
  CHECK(flags_of(job).empty());
}
