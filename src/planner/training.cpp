#include <gpuplan/planner/training.hpp>

#include "training_checks.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/planner/positions.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::int64_t kMostDevices = 1024;
constexpr std::int64_t kLongestAsked = 1 << 20;

const TrainingFramework& require_framework(const Catalog& catalog, const std::string& name) {
  if (const TrainingFramework* framework = catalog.find_training_framework(name)) return *framework;
  std::vector<std::string> names;
  for (const TrainingFramework& framework : catalog.training_frameworks()) names.emplace_back(framework.name);
  throw InputError(Problem{"input.unknown_name",
                           "unknown training framework '" + name + "'",
                           Place{"--framework", 0, 0},
                           join(names, ", "),
                           catalog.nearest_training_framework(name),
                           {}});
}

// Devices of one data-parallel rank.
std::int64_t devices_of_rank(const TrainingSpec& job) { return job.tp * job.pp * job.cp; }

void check(const TrainingRequest& request, const Architecture& architecture) {
  std::vector<Problem> problems;
  TrainingSpec job = request.training;
  const std::int64_t group = devices_of_rank(job);
  if (request.count && *request.count % group != 0) {
    problems.push_back(
        {"input.contradiction",
         std::to_string(*request.count) + " devices are not a multiple of tp x pp x cp = " + std::to_string(group),
         Place{"--count", 0, 0},
         "a multiple of " + std::to_string(group),
         {},
         {}});
  }
  job.dp = request.count ? std::max<std::int64_t>(1, *request.count / group) : kMostDevices;
  for (Problem& problem : check_training(job)) problems.push_back(std::move(problem));
  if (job.pp > std::max<std::int64_t>(1, architecture.layers)) {
    problems.push_back(
        {"input.out_of_range",
         std::to_string(job.pp) + " pipeline stages for " + std::to_string(architecture.layers) + " layers",
         Place{"--pp", 0, 0},
         "at most " + std::to_string(architecture.layers),
         {},
         {}});
  }
  if (job.tp > 1 && architecture.heads > 0 && architecture.heads % job.tp != 0) {
    problems.push_back({"input.contradiction",
                        std::to_string(job.tp) + " tensor-parallel ranks do not divide " +
                            std::to_string(architecture.heads) + " attention heads",
                        Place{"--tp", 0, 0},
                        "a divisor of " + std::to_string(architecture.heads),
                        {},
                        {}});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

// The job on so many data-parallel ranks.
TrainingSpec spread(const TrainingRequest& request, const TrainingFramework& framework, std::int64_t ranks) {
  TrainingSpec job = request.training;
  job.dp = ranks;
  if (!request.sharding_is_default) return job;
  const auto usual = parse_state_sharding(framework.sharding).value.value_or(StateSharding::fsdp);
  job.sharding = ranks * job.cp > 1 ? usual : StateSharding::none;
  return job;
}

// Up to eight ranks one by one, then doubling.
std::vector<std::int64_t> ranks_to_try(const TrainingRequest& request) {
  const std::int64_t group = devices_of_rank(request.training);
  if (request.count) return {std::max<std::int64_t>(1, *request.count / group)};
  std::vector<std::int64_t> ranks;
  for (std::int64_t n = 1; n == 1 || n * group <= kMostDevices; n = n < 8 ? n + 1 : 2 * n) {
    if (n * request.training.cp >= request.training.ep) ranks.push_back(n);
  }
  if (ranks.empty()) ranks.push_back(request.training.ep);
  return ranks;
}

TrainingFit fit_on(const Catalog& catalog, const TrainingRequest& request, const TrainingPlan& plan,
                   const Accelerator& accelerator) {
  TrainingFit fit;
  fit.accelerator = &accelerator;
  const std::vector<std::int64_t> ranks = ranks_to_try(request);
  for (const std::int64_t n : ranks) {
    fit.job = spread(request, *plan.framework, n);
    fit.memory = training_memory(inputs_of(catalog, plan, fit), nullptr);
    if (fit.memory.verdict != FitVerdict::does_not_fit) break;
  }
  const bool holds = fit.memory.verdict != FitVerdict::does_not_fit;
  // Told for what was asked for by name: trying all changes on every accelerator takes its time.
  if (!request.accelerators.empty() && (!holds || fit.job.dp > ranks.front())) {
    TrainingFit first;
    first.accelerator = &accelerator;
    first.job = spread(request, *plan.framework, ranks.front());
    fit.changes = changes_that_fit(inputs_of(catalog, plan, first));
  }
  if (!holds) {
    const std::string change =
        fit.changes.empty() ? "another accelerator, or tensor and pipeline parallelism" : fit.changes.front().message;
    fit.rejection =
        Rejection{"memory",
                  format_bytes(fit.memory.peak().terms.total()) + " on each of " + std::to_string(fit.job.devices()) +
                      " (" + std::string(to_string(fit.memory.peak().phase)) + ")",
                  format_bytes(fit.memory.capacity), change};
    return fit;
  }
  const TrainingMemoryInputs in = inputs_of(catalog, plan, fit);
  fit.largest_micro_batch = largest_micro_batch(in);
  const std::int64_t most = plan.model.architecture.max_position;
  fit.longest_sequence = longest_sequence(in, most > 0 ? most : kLongestAsked);
  return fit;
}

}  // namespace

TrainingMemoryInputs inputs_of(const Catalog& catalog, const TrainingPlan& plan, const TrainingFit& fit) {
  TrainingMemoryInputs in;
  in.model = &plan.model;
  in.framework = plan.framework;
  in.visible = catalog.visible_memory(*fit.accelerator);
  in.job = fit.job;
  in.catalog = &catalog;
  return in;
}

const TrainingFramework* prepare_training(const Catalog& catalog, TrainingRequest& request, ServedModel& model,
                                          ModelIdentity& identity) {
  const TrainingFramework& framework = require_framework(catalog, request.framework);
  JobSpec job = request.job;
  if (request.training.quantizes_weights() && job.dtype.is_default) job.dtype = {"nf4", false};
  model = serve_model(catalog, job, request.hub, identity);
  TrainingSpec& training = request.training;
  training.dropout = training.dropout || framework.dropout;
  if (request.lora_rank_is_default) training.lora_rank = framework.lora_rank.or_else(training.lora_rank);
  const auto targets = parse_lora_targets(framework.lora_targets).value;
  if (request.lora_targets_are_default && targets) training.lora_targets = *targets;
  // A length that nobody asked for is one that the model has positions for.
  const std::int64_t positions = model.architecture.max_position;
  if (request.sequence_is_default && positions > 0) training.sequence = std::min(training.sequence, positions);
  if (auto warning = beyond_positions(model.architecture, training.sequence, "--seq"))
    identity.warnings.push_back(std::move(*warning));
  return &framework;
}

TrainingPlan fit_training(const Catalog& catalog, const TrainingRequest& asked) {
  TrainingPlan plan;
  TrainingRequest request = asked;
  plan.framework = prepare_training(catalog, request, plan.model, plan.identity);
  check(request, plan.model.architecture);
  if (auto problem = missing_targets(request, plan.model)) throw InputError(std::move(*problem));
  for (const Accelerator& accelerator : catalog.accelerators()) {
    const bool chosen =
        request.accelerators.empty() ||
        std::find(request.accelerators.begin(), request.accelerators.end(), &accelerator) != request.accelerators.end();
    if (!chosen || !catalog.visible_memory(accelerator).known()) continue;
    plan.hardware.push_back(fit_on(catalog, request, plan, accelerator));
  }
  std::stable_sort(plan.hardware.begin(), plan.hardware.end(), [](const TrainingFit& a, const TrainingFit& b) {
    const auto key = [](const TrainingFit& f) { return std::tuple(f.rejection.has_value(), f.job.devices()); };
    return key(a) < key(b);
  });
  return plan;
}

}  // namespace gpuplan
