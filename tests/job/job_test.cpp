#include <gpuplan/job/job.hpp>

#include "catch.hpp"

#include <limits>
#include <string>

namespace gpuplan {
namespace {

JobSpec tokens_of(std::int64_t input, std::int64_t output, std::int64_t context) {
  JobSpec job;
  job.input = {input, false};
  job.output = {output, false};
  job.context = {context, false};
  return job;
}

}  // namespace

TEST_CASE("job: the defaults are those of a serving job and say so", "[job]") {
  // DESIGN.md: input 1024, output 256, context 4096, concurrency 1.
  const JobSpec job;
  CHECK(job.type.value == JobType::serve);
  CHECK(job.input.value == 1024);
  CHECK(job.output.value == 256);
  CHECK(job.context.value == 4096);
  CHECK(job.concurrency.value == 1);
  CHECK((job.type.is_default && job.input.is_default && job.output.is_default && job.context.is_default));
  CHECK(check_job(job).empty());
}

TEST_CASE("job: every type is read by the word that is shown", "[job]") {
  for (const char* word : {"serve", "batch", "pretrain", "full", "lora", "qlora", "embed", "generate", "recommend"}) {
    CAPTURE(word);
    const auto parsed = parse_job_type(word);
    REQUIRE(parsed.value.has_value());
    CHECK(to_string(*parsed.value) == word);
  }
}

TEST_CASE("job: an unknown type is met with the nearest and the list", "[job]") {
  const auto parsed = parse_job_type("serv");
  CHECK_FALSE(parsed.value.has_value());
  CHECK(parsed.id == "input.unknown_name");
  CHECK(parsed.nearest == "serve");
  CHECK(parsed.message.find("'serv'") != std::string::npos);
  CHECK(parsed.expected.find("pretrain") != std::string::npos);
  CHECK_FALSE(parse_job_type("").value.has_value());
}

TEST_CASE("job: input and output must fit the context together", "[job]") {
  CHECK(check_job(tokens_of(3000, 1096, 4096)).empty());
  const auto problems = check_job(tokens_of(3000, 1097, 4096));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "input.contradiction");
  CHECK(problems[0].message.find("4096") != std::string::npos);
  CHECK(problems[0].expected.find("4097") != std::string::npos);
}

TEST_CASE("job: lengths at the end of the range contradict the context without overflow", "[job]") {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(check_job(tokens_of(most, most, most)).size() == 1);
  CHECK(check_job(tokens_of(most, 1, 4096)).size() == 1);
  CHECK(check_job(tokens_of(1, most, most)).size() == 1);
}

}  // namespace gpuplan
