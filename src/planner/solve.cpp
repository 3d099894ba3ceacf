#include <gpuplan/planner/solve.hpp>

#include "hardware.hpp"
#include "replica_load.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/planner/limits.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::array<std::pair<LoadQuestion, std::string_view>, 3> kQuestions = {
    {{LoadQuestion::users, "users"},
     {LoadQuestion::requests_per_second, "requests-per-second"},
     {LoadQuestion::context, "context"}}};

// The load is of the kind that is asked for; how much of it does not matter to what a replica carries at most.
EstimateRequest of_kind(EstimateRequest request, LoadQuestion question) {
  ServingLoad& load = request.job.load;
  if (!request.count) request.count = 1;
  if (question == LoadQuestion::context) return request;
  load.users.reset();
  load.request_rate.reset();
  if (question == LoadQuestion::users) load.users = 1;
  if (question == LoadQuestion::requests_per_second) load.request_rate = 1;
  request.job.concurrency = {1, true};
  return request;
}

double carried(const ServingLoad& load, const ReplicaLoad& replica, LoadQuestion question) {
  if (question == LoadQuestion::requests_per_second) return replica.requests_per_second;
  return replica.active_users / load.active_share.value.value_or(1);
}

LoadAnswer longest_context_of(const Catalog& catalog, const EstimateRequest& request) {
  const FitAnswer fit = answer_fit(catalog, request, FitQuestion::max_context);
  return {LoadQuestion::context,
          fit.accelerator,
          fit.layout,
          static_cast<double>(fit.value),
          fit.dtype,
          fit.accelerator ? fit.bound : "memory",
          std::nullopt};
}

}  // namespace

std::string_view to_string(LoadQuestion value) { return kQuestions[static_cast<std::size_t>(value)].second; }

Parsed<LoadQuestion> parse_load_question(std::string_view text) {
  std::vector<std::string> all;
  std::vector<std::string_view> views;
  for (const auto& [question, name] : kQuestions) {
    if (name == text) return Parsed<LoadQuestion>::ok(question);
    all.emplace_back(name);
    views.push_back(name);
  }
  return Parsed<LoadQuestion>::fail("unknown question '" + std::string(text) + "'", join(all, ", "),
                                    nearest_name(text, views), "input.unknown_name");
}

LoadAnswer answer_load(const Catalog& catalog, const EstimateRequest& original, LoadQuestion question) {
  const EstimateRequest request = of_kind(original, question);
  if (question == LoadQuestion::context) return longest_context_of(catalog, request);
  const Estimate estimate = fit_job(catalog, request);
  const Ceilings ceilings(catalog);
  HardwareTable table(catalog, request, estimate.model, *estimate.engine, ceilings);
  const ServingJob job = serving_job(request, estimate);
  LoadPlanner loads(request, job, ceilings);
  LoadAnswer best;
  best.question = question;
  best.dtype = estimate.model.scheme.name;
  for (const HardwareFit& hardware : estimate.hardware) {
    if (hardware.rejection && !best.rejection) best.rejection = hardware.rejection;
    if (table.rejection(*hardware.accelerator)) continue;
    const Accelerator& accelerator = *hardware.accelerator;
    const std::int64_t inside = std::min(*request.count, table.devices_per_host(accelerator));
    for (LayoutFit fit : table.layouts_inside(accelerator, inside)) {
      const Fabric fabric = fabric_without_offer(catalog, accelerator, fit.layout);
      const ReplicaLimit limit = loads.limit({&accelerator, fabric, fit.layout, fit.max_concurrency});
      fit.layout.dp = *request.count / fit.layout.devices_per_replica();
      const std::int64_t working = fit.layout.dp - loads.spare();
      if (limit.rejection || working < 1) continue;
      const double value = static_cast<double>(working) * carried(request.job.load, limit.load, question);
      if (value <= best.value) continue;
      best.accelerator = &accelerator;
      best.layout = fit.layout;
      best.value = value;
      best.bound = to_string(limit.bound);
    }
  }
  if (question == LoadQuestion::users) best.value = std::floor(best.value);
  if (best.value <= 0) best.accelerator = nullptr;
  if (best.accelerator) best.rejection.reset();
  return best;
}

EstimateRequest with_answer(EstimateRequest request, const LoadAnswer& answer) {
  request = of_kind(std::move(request), answer.question);
  if (!answer.accelerator) return request;
  JobSpec& job = request.job;
  if (answer.question == LoadQuestion::users) job.load.users = static_cast<std::int64_t>(answer.value);
  if (answer.question == LoadQuestion::requests_per_second) job.load.request_rate = answer.value;
  if (answer.question == LoadQuestion::context) job.context = {static_cast<std::int64_t>(answer.value), false};
  return request;
}

}  // namespace gpuplan
