#include "resolve.hpp"

#include <gpuplan/report/build.hpp>

#include <algorithm>

namespace gpuplan::cli {
namespace {

constexpr int kDone = 0;
constexpr int kNoPlan = 3;

}  // namespace

Outcome run_estimate(const Options& options, const Environment& environment) {
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices, Imported::cheapest);
  const EstimateRequest request = resolve_request(catalog, options, environment, Prices::used, outcome.notices);
  const Estimate estimate = make_estimate(catalog, request);
  EstimateDocument document = report_estimate(catalog, request, estimate, options.explain);
  if (options.top) {
    document.shown_rows = *options.top;
    document.best_of_each_provider = false;
    const auto rows = static_cast<std::size_t>(*options.top);
    if (*options.top > 0 && options.format != Format::table && document.options.size() > rows)
      document.options.resize(rows);
  }
  for (const NoticeDocument& warning : document.warnings) outcome.notices.push_back(warning.message);
  outcome.status = estimate.options.empty() ? kNoPlan : kDone;
  outcome.document = std::move(document);
  return outcome;
}

namespace {

// A training job is named by --train, or by a --job that is one.
std::optional<TrainingMethod> training_method(const Options& options) {
  if (options.train) return options.train;
  switch (options.job.type.value) {
    case JobType::pretrain:
      return TrainingMethod::pretrain;
    case JobType::full:
      return TrainingMethod::full;
    case JobType::lora:
      return TrainingMethod::lora;
    case JobType::qlora:
      return TrainingMethod::qlora;
    default:
      return std::nullopt;
  }
}

// Two flags mean something for networks that do not generate token by token, too.
void refuse_training_flags(const Options& options, bool by_parts) {
  const auto& said = options.said_of_training;
  const auto refused = std::find_if(said.begin(), said.end(), [&](const std::string& flag) {
    return !by_parts || (flag != "flash-attention" && flag != "offload");
  });
  if (refused == said.end()) return;
  throw InputError(Problem{"input.contradiction",
                           "--" + *refused + " is about training jobs",
                           Place{"--" + *refused, 0, 0},
                           "--train with a method beside it",
                           {},
                           {}});
}

void refuse_parts_flags(const Options& options) {
  if (options.said_of_parts.empty()) return;
  const std::string flag = "--" + options.said_of_parts.front();
  throw InputError(Problem{"input.contradiction",
                           flag + " is about networks that do not generate token by token",
                           Place{flag, 0, 0},
                           "a diffusion pipeline, an encoder or an image network as --model",
                           {},
                           {}});
}

void refuse_residency_flags(const Options& options) {
  if (options.said_of_residency.empty()) return;
  const std::string flag = "--" + options.said_of_residency.front();
  throw InputError(Problem{"input.contradiction",
                           flag + " is about serving a language model",
                           Place{flag, 0, 0},
                           "a language model that generates as --model, and no --train",
                           {},
                           {}});
}

Outcome run_training_memory(const Options& options, const Environment& environment, TrainingMethod method) {
  refuse_parts_flags(options);
  refuse_residency_flags(options);
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  const TrainingRequest request = resolve_training(catalog, options, environment, method, outcome.notices);
  const TrainingPlan plan = fit_training(catalog, request);
  TrainingReport document = report_training(catalog, request, plan, options.explain);
  document.shown_rows = options.top.value_or(0);
  const auto rows = static_cast<std::size_t>(document.shown_rows);
  if (rows > 0 && options.format != Format::table && document.hardware.size() > rows) document.hardware.resize(rows);
  const bool runs = std::any_of(document.hardware.begin(), document.hardware.end(),
                                [](const TrainingHardwareDocument& h) { return h.rule.empty(); });
  for (const Warning& warning : plan.identity.warnings) outcome.notices.push_back(warning.message);
  outcome.status = runs ? kDone : kNoPlan;
  outcome.document = std::move(document);
  return outcome;
}

// The smallest card that holds it, each device with work of its own.
Outcome run_parts_memory(const Options& options, const Catalog& catalog, const EstimateRequest& request,
                         const ResolvedModel& model, Outcome outcome) {
  if (options.training.offload != TrainingOffload::none) {
    throw InputError(Problem{"input.contradiction",
                             "--offload optimizer and all are about training jobs",
                             Place{"--offload", 0, 0},
                             "none, model, sequential",
                             {},
                             {}});
  }
  const PartsPlan plan = fit_parts(catalog, request, model);
  MemoryReport document = report_parts(catalog, request.job, plan, options.explain);
  document.shown_rows = options.top.value_or(0);
  const auto rows = static_cast<std::size_t>(document.shown_rows);
  if (rows > 0 && options.format != Format::table && document.hardware.size() > rows) document.hardware.resize(rows);
  const bool runs = std::any_of(document.hardware.begin(), document.hardware.end(),
                                [](const HardwareDocument& h) { return h.memory.has_value(); });
  for (const Warning& warning : plan.identity.warnings) outcome.notices.push_back(warning.message);
  outcome.notices.push_back("the time of such jobs is not modelled yet");
  outcome.status = runs ? kDone : kNoPlan;
  outcome.document = std::move(document);
  return outcome;
}

}  // namespace

Outcome run_memory(const Options& options, const Environment& environment) {
  if (const auto method = training_method(options)) return run_training_memory(options, environment, *method);
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  EstimateRequest request = resolve_request(catalog, options, environment, Prices::unused, outcome.notices);
  const auto model =
      std::make_shared<const ResolvedModel>(resolve_model(catalog, request.job.model.value, request.hub));
  const bool by_parts = runs_by_parts(*model);
  refuse_training_flags(options, by_parts);
  if (by_parts) refuse_residency_flags(options);
  if (by_parts) return run_parts_memory(options, catalog, request, *model, std::move(outcome));
  refuse_parts_flags(options);
  request.model = model;
  const Estimate estimate = fit_job(catalog, request);
  MemoryReport document = report_memory(catalog, request, estimate, options.explain);
  if (options.fit) {
    const FitAnswer answer = answer_fit(catalog, request, *options.fit);
    FitDocument fit{std::string(to_string(answer.question)),
                    {},
                    answer.layout.devices(),
                    static_cast<double>(answer.value),
                    answer.dtype,
                    answer.bound,
                    answer.needed,
                    answer.available};
    if (answer.accelerator) fit.accelerator = answer.accelerator->name;
    document.fit = std::move(fit);
  }
  document.shown_rows = options.top.value_or(0);
  const auto rows = static_cast<std::size_t>(document.shown_rows);
  if (rows > 0 && options.format != Format::table && document.hardware.size() > rows) document.hardware.resize(rows);
  const bool runs = std::any_of(document.hardware.begin(), document.hardware.end(),
                                [](const HardwareDocument& h) { return h.memory.has_value(); });
  for (const Warning& warning : estimate.warnings) outcome.notices.push_back(warning.message);
  outcome.status = runs ? kDone : kNoPlan;
  outcome.document = std::move(document);
  return outcome;
}

}  // namespace gpuplan::cli
