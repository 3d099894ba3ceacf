#include "checks.hpp"
#include "resolve.hpp"

#include <gpuplan/report/build.hpp>

#include <algorithm>

namespace gpuplan::cli {
namespace {

constexpr int kDone = 0;
constexpr int kNoPlan = 3;
constexpr int kLimitMissed = 4;

}  // namespace

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

// Flags of other jobs that mean something here, too: what a job that ends is kept within; kernels; how much there is to do.
const FlagNames kLimitFlags = {"deadline", "by", "budget"};
const FlagNames kPartsTrainingFlags = {"flash-attention", "offload"};
const FlagNames kAmountFlags = {"tokens"};
const FlagNames kBatchFlags = {"tokens", "items", "batch"};
const FlagNames kBatchLoadFlags = {"prefix-hit", "min-quality"};

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
  refuse_training_offload(options);
  const PartsPlan plan = fit_parts(catalog, request, model);
  MemoryReport document = report_parts(catalog, request.job, plan, options.explain);
  document.shown_rows = options.top.value_or(0);
  const auto rows = static_cast<std::size_t>(document.shown_rows);
  if (rows > 0 && options.format != Format::table && document.hardware.size() > rows) document.hardware.resize(rows);
  const bool runs = std::any_of(document.hardware.begin(), document.hardware.end(),
                                [](const HardwareDocument& h) { return h.memory.has_value(); });
  for (const Warning& warning : plan.identity.warnings) outcome.notices.push_back(warning.message);
  outcome.status = runs ? kDone : kNoPlan;
  outcome.document = std::move(document);
  return outcome;
}

}  // namespace

namespace {

// Rows as asked for; then every option is one.
void cut_rows(const Options& options, EstimateDocument& document) {
  if (!options.top) return;
  document.shown_rows = *options.top;
  document.best_of_each_provider = false;
  const auto rows = static_cast<std::size_t>(*options.top);
  if (*options.top > 0 && options.format != Format::table && document.options.size() > rows)
    document.options.resize(rows);
}

// An estimate, and the exit status that goes with having no option.
struct Estimated {
  EstimateDocument document;
  int without_options = kNoPlan;
};

Estimated estimate_training_job(const Options& options, const Environment& environment, const Catalog& catalog,
                                TrainingMethod method, Outcome& outcome) {
  refuse_parts_flags(options, kAmountFlags);
  refuse_serving_flags(options, method);
  refuse_residency_flags(options);
  const TrainingEstimateRequest request =
      resolve_training_estimate(catalog, options, environment, method, outcome.notices);
  const TrainingEstimate estimate = estimate_training(catalog, request);
  return {report_training_estimate(catalog, request, estimate, options.explain),
          estimate.limits_failed ? kLimitMissed : kNoPlan};
}

// What given hardware carries, and the offers of it at that load; the answer holds where nobody offers so many.
Estimated solve_job(const Options& options, const Catalog& catalog, const EstimateRequest& request) {
  const LoadAnswer answer = answer_load(catalog, request, *options.solve);
  const EstimateRequest priced = with_answer(request, answer);
  Estimated estimated{report_estimate(catalog, priced, make_estimate(catalog, priced), options.explain),
                      answer.accelerator ? kDone : kNoPlan};
  estimated.document.solve = describe_answer(answer);
  return estimated;
}

void require_amount(bool said) {
  if (said) return;
  throw InputError(Problem{"input.contradiction",
                           "a batch job ends, and nothing says how much there is to do",
                           Place{"--job", 0, 0},
                           "--items or --tokens",
                           {},
                           {}});
}

// A network that people wait for runs one item at a time, a job that ends or texts the batch that is best for throughput.
Estimated estimate_by_parts(const Options& options, const Catalog& catalog, EstimateRequest request) {
  refuse_training_offload(options);
  const auto& said = options.said_of_parts;
  PartsJob& job = request.job.parts;
  const bool ends = job.items > 0 || job.tokens > 0;
  if (request.job.type.value == JobType::batch) {
    require_amount(ends);
    request.job.type.is_default = true;  // what the network does, until it is done
  }
  FlagNames known = kPartsTrainingFlags;
  if (ends) known.insert(known.end(), kLimitFlags.begin(), kLimitFlags.end());
  refuse_training_flags(options, known);
  const bool batch_is_said = std::find(said.begin(), said.end(), "batch") != said.end();
  job.chooses_batch = !batch_is_said && (ends || !has_denoiser(request.model->files.config.network));
  const JobLimits limits = resolve_limits(catalog, options, request);
  const PartsEstimate estimate = estimate_parts(catalog, request, *request.model, limits);
  Estimated estimated{report_estimate(catalog, request, estimate, options.explain), kNoPlan};
  if (!estimate.limits_failed) return estimated;
  estimated.without_options = kLimitMissed;
  return estimated;
}

// How many requests there are: said outright, or by the tokens that they generate.
BatchLoad batch_load(const Options& options, const EstimateRequest& request) {
  const PartsJob& amount = request.job.parts;
  BatchLoad load;
  load.requests = amount.tokens > 0 ? amount.tokens / static_cast<double>(request.job.output.value) : amount.items;
  const auto& said = options.said_of_parts;
  if (std::find(said.begin(), said.end(), "batch") != said.end()) load.batch = amount.batch;
  require_amount(load.requests > 0);
  std::vector<Problem> problems;
  const auto contradiction = [&](std::string message, const char* flag, std::string expected) {
    problems.push_back({"input.contradiction", std::move(message), Place{flag, 0, 0}, std::move(expected), {}, {}});
  };
  if (amount.tokens > 0 && amount.items > 0)
    contradiction("--items and --tokens both say how much there is to do", "--tokens", "one of them");
  if (!request.job.concurrency.is_default)
    contradiction("nobody waits for a batch job", "--concurrency", "--batch: requests in flight on a replica");
  if (!problems.empty()) throw InputError(std::move(problems));
  return load;
}

AlternativesRequest alternatives_of(const Options& options, const Environment& environment, const Catalog& catalog) {
  AlternativesRequest asked;
  asked.imported = imported_token_prices(options, environment);
  if (!options.owned.country.empty()) asked.owned = owned_terms(catalog, options);
  return asked;
}

Estimated estimate_batch_job(const Options& options, const Environment& environment, const Catalog& catalog,
                             const EstimateRequest& request) {
  refuse_training_flags(options, kLimitFlags);
  refuse_parts_flags(options, kBatchFlags);
  refuse_residency_flags(options, kBatchLoadFlags);
  BatchLoad load = batch_load(options, request);
  load.limits = resolve_limits(catalog, options, request);
  const BatchEstimate estimate = estimate_batch(catalog, request, load);
  Estimated estimated{report_estimate(catalog, request, estimate, options.explain),
                      estimate.limits_failed ? kLimitMissed : kNoPlan};
  add_alternatives(catalog, request, estimate, alternatives_of(options, environment, catalog), estimated.document);
  return estimated;
}

// What ends is on until it ends.
void refuse_duty(const Options& options, bool by_parts) {
  if (!options.duty || (!by_parts && !training_method(options) && options.job.type.value == JobType::serve)) return;
  throw InputError(Problem{"input.contradiction",
                           "--hours is about a service that people use",
                           Place{"--hours", 0, 0},
                           "a serving job of a language model",
                           {},
                           {}});
}

Estimated estimate_job(const Options& options, const Environment& environment, const Catalog& catalog,
                       Outcome& outcome) {
  refuse_duty(options, false);
  if (const auto method = training_method(options))
    return estimate_training_job(options, environment, catalog, *method, outcome);
  EstimateRequest request = resolve_request(catalog, options, environment, Prices::used, outcome.notices);
  request.model = std::make_shared<const ResolvedModel>(resolve_model(catalog, request.job.model.value, request.hub));
  const bool by_parts = runs_by_parts(*request.model);
  if (by_parts) refuse_residency_flags(options);
  if (!by_parts && request.job.type.value == JobType::batch)
    return estimate_batch_job(options, environment, catalog, request);
  refuse_duty(options, by_parts);
  if (by_parts) return estimate_by_parts(options, catalog, request);
  refuse_training_flags(options);
  refuse_parts_flags(options);
  if (options.solve) return solve_job(options, catalog, request);
  const Estimate estimate = make_estimate(catalog, request);
  Estimated estimated{report_estimate(catalog, request, estimate, options.explain), kNoPlan};
  add_alternatives(catalog, request, estimate, alternatives_of(options, environment, catalog), estimated.document);
  return estimated;
}

}  // namespace

Outcome run_estimate(const Options& options, const Environment& environment) {
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices, Imported::cheapest);
  Estimated estimated = estimate_job(options, environment, catalog, outcome);
  EstimateDocument& document = estimated.document;
  cut_rows(options, document);
  for (const NoticeDocument& warning : document.warnings) outcome.notices.push_back(warning.message);
  outcome.status = document.options.empty() ? estimated.without_options : kDone;
  outcome.document = std::move(document);
  return outcome;
}

namespace {

bool is_asked(const Options& options, std::string_view offer) {
  return options.offer.empty() || options.offer == offer;
}

// Where an option stands, and what is no dearer and no slower.
std::vector<Cell> standing_of(const EstimateDocument& document, const OptionDocument& option) {
  std::string beaten;
  for (const OptionDocument& other : document.options) {
    if (other.rank == option.dominated_by) beaten = "no dearer and no slower: " + other.offer;
  }
  return {{option.offer},
          {option.provider},
          {"rank " + std::to_string(option.rank)},
          {beaten.empty() ? std::string("nothing is both cheaper and faster") : beaten},
          {},
          {}};
}

// Offers that never take part, whatever the job: their price is unknown, or their hardware.
void add_unrankable(const Catalog& catalog, const Options& options, ListDocument& list) {
  if (options.offer.empty()) return;
  for (const Provider& provider : catalog.providers()) {
    for (const Offer& offer : provider.offers) {
      if (offer.rankable || !is_asked(options, offer.id)) continue;
      list.rows.push_back({{std::string(offer.id)},
                           {std::string(provider.name)},
                           {std::string("not rankable")},
                           {std::string(offer.why_not)},
                           {},
                           {}});
    }
  }
}

}  // namespace

Outcome run_why(const Options& options, const Environment& environment) {
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices, Imported::cheapest);
  const EstimateDocument document = estimate_job(options, environment, catalog, outcome).document;
  ListDocument list;
  list.what = "why";
  list.columns = {"offer", "provider", "rule", "needed", "available", "smallest_change"};
  if (!options.offer.empty()) {
    for (const OptionDocument& option : document.options) {
      if (is_asked(options, option.offer)) list.rows.push_back(standing_of(document, option));
    }
  }
  for (const RejectedDocument& r : document.rejected) {
    if (is_asked(options, r.offer))
      list.rows.push_back({{r.offer}, {r.provider}, {r.rule}, {r.needed}, {r.available}, {r.smallest_change}});
  }
  add_unrankable(catalog, options, list);
  if (list.rows.empty() && !options.offer.empty()) {
    throw InputError(Problem{"input.unknown_name",
                             "no offer '" + options.offer + "' among those that were looked at",
                             Place{"--offer", 0, 0},
                             "the id of an offer that the filters let through (see 'gpuplan offers')",
                             {},
                             {}});
  }
  list.note = std::to_string(document.options.size()) + " offers can run the job; 'gpuplan estimate' ranks them";
  outcome.document = std::move(list);
  return outcome;
}

Outcome run_memory(const Options& options, const Environment& environment) {
  if (const auto method = training_method(options)) return run_training_memory(options, environment, *method);
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  EstimateRequest request = resolve_request(catalog, options, environment, Prices::unused, outcome.notices);
  const auto model =
      std::make_shared<const ResolvedModel>(resolve_model(catalog, request.job.model.value, request.hub));
  const bool by_parts = runs_by_parts(*model);
  refuse_training_flags(options, by_parts ? kPartsTrainingFlags : FlagNames{});
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
