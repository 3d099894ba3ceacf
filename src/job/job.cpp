#include <gpuplan/job/job.hpp>

#include <gpuplan/base/text.hpp>

#include <array>

namespace gpuplan {
namespace {

constexpr std::array<std::pair<JobType, std::string_view>, 9> kJobTypes = {{
    {JobType::serve, "serve"},
    {JobType::batch, "batch"},
    {JobType::pretrain, "pretrain"},
    {JobType::full, "full"},
    {JobType::lora, "lora"},
    {JobType::qlora, "qlora"},
    {JobType::embed, "embed"},
    {JobType::generate, "generate"},
    {JobType::recommend, "recommend"},
}};

}  // namespace

std::string_view to_string(JobType value) {
  for (const auto& [type, name] : kJobTypes) {
    if (type == value) return name;
  }
  return "serve";
}

Parsed<JobType> parse_job_type(std::string_view text) {
  std::vector<std::string_view> names;
  std::vector<std::string> listed;
  for (const auto& [type, name] : kJobTypes) {
    if (name == text) return Parsed<JobType>::ok(type);
    names.push_back(name);
    listed.emplace_back(name);
  }
  return Parsed<JobType>::fail("unknown job '" + std::string(text) + "'", join(listed, ", "), nearest_name(text, names),
                               "input.unknown_name");
}

std::vector<Problem> check_job(const JobSpec& job) {
  std::vector<Problem> problems;
  // Unsigned: two lengths at the end of their range still add up.
  const std::uint64_t needed =
      static_cast<std::uint64_t>(job.input.value) + static_cast<std::uint64_t>(job.output.value);
  if (needed > static_cast<std::uint64_t>(job.context.value)) {
    problems.push_back({"input.contradiction",
                        "input " + std::to_string(job.input.value) + " + output " + std::to_string(job.output.value) +
                            " tokens exceed the context of " + std::to_string(job.context.value),
                        Place{"--context", 0, 0},
                        "a context of at least " + std::to_string(needed),
                        {},
                        {}});
  }
  for (Problem& problem : check_load(job.load, !job.concurrency.is_default, false))
    problems.push_back(std::move(problem));
  return problems;
}

}  // namespace gpuplan
