#include <gpuplan/job/load.hpp>

namespace gpuplan {
namespace {

Problem contradiction(std::string flag, std::string message, std::string expected) {
  return {"input.contradiction", std::move(message), Place{std::move(flag), 0, 0}, std::move(expected), {}, {}};
}

}  // namespace

double ServingLoad::active_users() const {
  return static_cast<double>(users.value_or(0)) * active_share.value.value_or(1);
}

std::vector<Problem> check_load(const ServingLoad& load, bool concurrency_is_said, bool drafts) {
  std::vector<Problem> problems;
  if (load.request_rate && load.users)
    problems.push_back(contradiction("--request-rate", "users and a rate of requests are two loads", "one of the two"));
  if (concurrency_is_said && load.arrives()) {
    problems.push_back(contradiction(
        "--concurrency", "requests in flight follow from " + std::string(load.users ? "the users" : "their rate"),
        "--concurrency, --request-rate or --users"));
  }
  const bool pause_is_said = load.think.has_value() && !load.think.is_default;
  const bool share_is_said = load.active_share.has_value() && !load.active_share.is_default;
  if (!load.users && (pause_is_said || share_is_said)) {
    problems.push_back(contradiction(pause_is_said ? "--think" : "--active-share",
                                     "how often users ask needs their number", "--users beside it"));
  }
  if (load.active_share.has_value() && *load.active_share <= 0) {
    problems.push_back(
        {"input.out_of_range", "nobody asks anything", Place{"--active-share", 0, 0}, "more than 0", {}, {}});
  }
  if ((load.draft_tokens > 0) != load.acceptance.has_value() || (drafts && load.draft_tokens <= 0)) {
    problems.push_back(contradiction("--draft-tokens", "what speculation gains is not known",
                                     "--draft-tokens and --acceptance, both"));
  }
  return problems;
}

}  // namespace gpuplan
