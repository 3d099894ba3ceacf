#include "parts.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

RunDocument describe_run(const BatchEstimate& estimate, const BatchOption& option) {
  RunDocument run;
  const double replicas = as_double(option.layout.dp);
  const double output = as_double(estimate.fit.request.output);
  run.generates = true;
  run.batch = option.load;
  run.latency_s = spread_of(option.at.e2e);
  run.items_per_s = spread_of(option.at.output, replicas / output);
  run.tokens_per_s = spread_of(option.at.output, replicas);
  run.total_s = spread_of(option.total);
  run.total_cost = option.cost.p50();
  run.per_1m_tokens = option.per_1m_output_tokens;
  run.per_1000_items = option.per_1m_output_tokens * output / 1000;
  return run;
}

OptionDocument describe_option(const Catalog& catalog, const BatchEstimate& estimate, const BatchOption& option,
                               std::int64_t rank) {
  OptionDocument d = describe_planned(catalog, option, rank);
  describe_replicas(option, *estimate.fit.engine, d);
  d.alone = describe_latency(option.at);
  d.time = describe_time(option.at, as_double(option.layout.dp));
  d.run = describe_run(estimate, option);
  for (const auto& term : option.cost.terms.terms()) d.cost.terms.push_back({std::string(term.id), term.value});
  d.at_basis = "batch";
  return d;
}

std::vector<JobValue> describe_batch(const EstimateRequest& request, const BatchEstimate& estimate) {
  std::vector<JobValue> values = describe_job(request.job, estimate.fit);
  std::erase_if(values, [](const JobValue& value) { return value.name == "concurrency"; });
  const BatchLoad& load = estimate.load;
  values.push_back({"items", load.requests, false});
  if (load.batch) {
    values.push_back({"batch", as_double(*load.batch), false});
  } else {
    values.push_back({"batch", std::string("best"), true});
  }
  if (load.limits.deadline) values.push_back({"deadline", format_seconds(*load.limits.deadline), false});
  if (load.limits.budget) values.push_back({"budget", *load.limits.budget, false});
  return values;
}

std::vector<ChangeDocument> changes_of(const BatchEstimate& estimate, std::string_view currency) {
  std::vector<ChangeDocument> changes;
  if (estimate.options.empty()) return changes;
  const auto told = [&](const BatchOption& o) {
    return name_option(o) + ", " + format_seconds(o.total.value) + ", " + format_significant(o.cost.p50(), 3) + " " +
           std::string(currency);
  };
  const auto add = [&](const char* id, const char* words, auto measure) {
    const auto found =
        std::min_element(estimate.options.begin(), estimate.options.end(),
                         [&](const BatchOption& a, const BatchOption& b) { return measure(a) < measure(b); });
    if (found != estimate.options.begin()) changes.push_back({id, words + told(*found)});
  };
  add("fastest", "soonest done: ", [](const BatchOption& o) { return o.total.value.base(); });
  add("cheapest", "cheapest: ", [](const BatchOption& o) { return o.cost.p50(); });
  return changes;
}

}  // namespace

std::string kept_by_none(const JobLimits& limits, std::string_view currency) {
  std::string kept;
  if (limits.deadline) kept = "the deadline of " + format_seconds(*limits.deadline);
  if (limits.budget) {
    kept += (kept.empty() ? "" : " or ") + std::string("the budget of ") + format_significant(*limits.budget, 4) + " " +
            std::string(currency);
  }
  return "no option keeps " + kept;
}

EstimateDocument report_estimate(const Catalog& catalog, const EstimateRequest& request, const BatchEstimate& estimate,
                                 bool explain) {
  EstimateDocument d;
  d.model = describe_model(request.job, estimate.fit);
  d.job = describe_batch(request, estimate);
  d.item = "request";
  d.hardware = describe_hardware(estimate.fit);
  std::int64_t rank = 0;
  for (const BatchOption& option : estimate.options)
    d.options.push_back(describe_option(catalog, estimate, option, ++rank));
  attach_evidence(catalog, estimate.fit, estimate.options, d.options);
  describe_market(catalog, request, currencies_of(estimate.options), estimate.fit.rejected, estimate.fit.warnings, d);
  if (estimate.limits_failed) d.no_option = kept_by_none(estimate.load.limits, request.currency);
  d.changes = changes_of(estimate, request.currency);
  d.explanation = explained(explain && !estimate.options.empty(), [&](Explain& why) {
    explain_option(catalog, request, estimate, estimate.options.front(), why);
  });
  return d;
}

}  // namespace gpuplan
