#include "training_checks.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/model/architecture.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

Problem contradiction(std::string message, std::string flag, std::string expected) {
  return {"input.contradiction", std::move(message), Place{std::move(flag), 0, 0}, std::move(expected), {}, {}};
}

bool has(std::span<const std::string> said, std::string_view flag) {
  return std::find(said.begin(), said.end(), flag) != said.end();
}

std::string divisors_of(std::int64_t number) {
  std::vector<std::string> all;
  for (std::int64_t n = 1; n <= number; ++n) {
    if (number % n == 0) all.push_back(std::to_string(n));
  }
  return join(all, ", ");
}

bool has_experts(const Architecture& a) {
  const auto groups = mlps_of(a);
  return std::any_of(groups.begin(), groups.end(), [](const MlpGroup& g) { return g.mlp.has_experts(); });
}

}  // namespace

std::optional<Problem> missing_targets(const TrainingRequest& request, const ServedModel& model) {
  const TrainingSpec& job = request.training;
  if (!job.trains_adapters() || request.lora_targets_are_default) return std::nullopt;
  const auto& targets = job.lora_targets;
  const bool experts = std::find(targets.begin(), targets.end(), LoraTarget::experts) != targets.end();
  if (experts && targets != all_linear_targets() && !has_experts(model.architecture))
    return contradiction("the model has no experts to adapt", "--lora-targets", "attention, mlp, all, or names");
  if (adapter_parameters(model, job) > 0) return std::nullopt;
  return contradiction("none of the products to adapt is in the model", "--lora-targets", "all");
}

void check_training_job(const TrainingRequest& request, const ServedModel& model, std::span<const std::string> said) {
  std::vector<Problem> problems;
  const TrainingSpec& job = request.training;
  const Architecture& a = model.architecture;
  if (has(said, "tp") && a.heads > 0 && a.heads % job.tp != 0) {
    problems.push_back(contradiction(
        std::to_string(job.tp) + " tensor-parallel ranks do not divide " + std::to_string(a.heads) + " attention heads",
        "--tp", divisors_of(a.heads)));
  }
  if (has(said, "pp") && job.pp > std::max<std::int64_t>(1, a.layers)) {
    problems.push_back(
        contradiction(std::to_string(job.pp) + " pipeline stages for " + std::to_string(a.layers) + " layers", "--pp",
                      "at most " + std::to_string(a.layers)));
  }
  if (has(said, "vpp") && job.vpp > 1) {
    const std::int64_t stages = has(said, "pp") ? job.pp : 1;
    if (has(said, "pp") && job.pp == 1) {
      problems.push_back(
          contradiction("an interleaved schedule needs a pipeline", "--vpp", "1, or --pp of at least 2"));
    } else if (a.layers % (stages * job.vpp) != 0) {
      const std::string of = stages > 1 ? " of " + std::to_string(stages) + " stages" : "";
      problems.push_back(contradiction(
          std::to_string(job.vpp) + " chunks a stage" + of + " do not divide " + std::to_string(a.layers) + " layers",
          "--vpp", divisors_of(std::max<std::int64_t>(1, a.layers / stages))));
    }
  }
  if (auto problem = missing_targets(request, model)) problems.push_back(std::move(*problem));
  if (!problems.empty()) throw InputError(std::move(problems));
}

void check_batch(const TrainingRequest& request, const TrainingLoad& load, std::int64_t global_batch) {
  const std::int64_t micro_batch = request.training.micro_batch;
  if (!load.is_said("micro-batch") || global_batch % micro_batch == 0) return;
  throw InputError(contradiction("micro-batches of " + std::to_string(micro_batch) + " sequences do not divide the " +
                                     std::to_string(global_batch) + " of a step",
                                 "--micro-batch",
                                 "a divisor of " + std::to_string(global_batch) + ", or another --global-batch"));
}

std::optional<Warning> beyond_tokens(const TrainingLoad& load, std::int64_t global_batch, std::int64_t sequence) {
  const double step = static_cast<double>(global_batch) * static_cast<double>(sequence);
  if (load.tokens <= 0 || step <= load.tokens) return std::nullopt;
  return Warning{"batch.over_tokens", "a step takes " + format_whole(step) + " tokens, and the job has " +
                                          format_whole(load.tokens) + ": one step is counted whole"};
}

}  // namespace gpuplan
