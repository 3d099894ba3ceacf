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
  const Catalog catalog = load_layers(options, environment, outcome.notices);
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

void refuse_training_flags(const Options& options) {
  if (options.said_of_training.empty()) return;
  throw InputError(Problem{"input.contradiction",
                           "--" + options.said_of_training.front() + " is about training jobs",
                           Place{"--" + options.said_of_training.front(), 0, 0},
                           "--train with a method beside it",
                           {},
                           {}});
}

Outcome run_training_memory(const Options& options, const Environment& environment, TrainingMethod method) {
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

}  // namespace

Outcome run_memory(const Options& options, const Environment& environment) {
  if (const auto method = training_method(options)) return run_training_memory(options, environment, *method);
  refuse_training_flags(options);
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  const EstimateRequest request = resolve_request(catalog, options, environment, Prices::unused, outcome.notices);
  const Estimate estimate = fit_job(catalog, request);
  MemoryReport document = report_memory(catalog, request, estimate, options.explain);
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
