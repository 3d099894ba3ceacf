#include "load.hpp"
#include "parts.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/planner/limits.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace gpuplan {
namespace {

OptionDocument describe_option(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate,
                               const Option& option, std::int64_t rank) {
  OptionDocument d = describe_planned(catalog, option, rank);
  describe_replicas(option, *estimate.engine, d);
  describe_load(request.job, option, d);
  d.at_basis = !request.job.concurrency.is_default || request.job.load.arrives() ? "asked" : "all_that_fit";
  d.alone = describe_latency(option.alone);
  d.time = describe_time(option.at, static_cast<double>(option.working()));
  if (request.duty) d.cost.billed_hours = option.hours_per_month;
  for (const auto& term : option.hourly.terms())
    d.cost.terms.push_back({std::string(term.id), term.value * option.hours_per_month});
  return d;
}

// The least option by a measure among those that hold a condition; null when none does.
template <class Holds, class Measure>
const Option* least(const std::vector<Option>& options, Holds holds, Measure measure) {
  const Option* best = nullptr;
  for (const Option& option : options) {
    if (holds(option) && (!best || measure(option) < measure(*best))) best = &option;
  }
  return best;
}

// What the first option's devices carry at most.
std::string load_change(const ServingLoad& load, const Estimate& estimate, const Option& best) {
  const double working = static_cast<double>(best.working());
  const ReplicaLoad& limit = best.carried.limit;
  const double requests = std::floor(limit.in_flight * working);
  const std::string bound = ", bound by " + std::string(to_string(best.carried.bound));
  if (load.arrives()) {
    return "more than " + format_significant(limit.requests_per_second * working, 3) +
           " requests a second need more devices" + bound;
  }
  return "more than " + format_whole(requests) + (requests == 1 ? " request of " : " requests at once of ") +
         format_whole(static_cast<double>(estimate.request.context)) + " tokens need more devices" +
         (load.targets.any() ? bound : "");
}

std::vector<ChangeDocument> changes_of(const ServingLoad& load, const Estimate& estimate, std::string_view currency) {
  std::vector<ChangeDocument> changes;
  if (estimate.options.empty()) return changes;
  const Option& best = estimate.options.front();
  const auto any = [](const Option&) { return true; };
  const auto month = [](const Option& o) { return o.per_month; };
  const auto whole = [](std::int64_t n) { return format_whole(static_cast<double>(n)); };
  const auto money = [&](double amount) { return format_significant(amount, 3) + " " + std::string(currency); };
  changes.push_back({"load", load_change(load, estimate, best)});
  if (estimate.longest_context) {
    changes.push_back(
        {"context", "one sequence may grow to " + whole(*estimate.longest_context) + " tokens on these devices"});
  }
  const bool spot = best.offer->contract == Contract::spot;
  const Option* other = least(
      estimate.options, [&](const Option& o) { return (o.offer->contract == Contract::spot) != spot; }, month);
  if (other && (spot || other->per_month < best.per_month)) {
    changes.push_back(
        {spot ? "no_interruptions" : "spot", std::string(spot ? "without interruptions" : "interruptible") + ": " +
                                                 name_option(*other) + ", " + money(other->per_month) + " a month"});
  }
  const Option* tokens = least(estimate.options, any, [](const Option& o) { return o.per_1m_output_tokens; });
  if (tokens != &best) {
    changes.push_back({"full_load", "cheapest tokens under steady load: " + name_option(*tokens) + ", " +
                                        money(tokens->per_1m_output_tokens) + " per 1M output tokens"});
  }
  const Option* fast = least(estimate.options, any, [](const Option& o) { return o.alone.tpot.value.base(); });
  if (fast != &best) {
    changes.push_back({"latency", "fastest alone: " + name_option(*fast) + ", " +
                                      format_significant(fast->alone.decode.value.base(), 3) + " tokens/s, " +
                                      money(fast->per_month) + " a month"});
  }
  return changes;
}

}  // namespace

EstimateDocument report_estimate(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate,
                                 bool explain) {
  EstimateDocument d;
  d.model = describe_model(request.job, estimate);
  d.job = describe_job(request.job, estimate);
  if (request.duty) d.job.push_back({"hours", request.duty->text, false});
  d.hardware = describe_hardware(estimate);
  std::int64_t rank = 0;
  for (const Option& option : estimate.options) {
    d.options.push_back(describe_option(catalog, request, estimate, option, ++rank));
  }
  attach_evidence(catalog, estimate, estimate.options, d.options);
  describe_market(catalog, request, currencies_of(estimate.options), estimate.rejected, estimate.warnings, d);
  d.changes = changes_of(request.job.load, estimate, request.currency);
  d.explanation = explained(explain && !estimate.options.empty(), [&](Explain& why) {
    explain_option(catalog, request, estimate, estimate.options.front(), why);
  });
  return d;
}

MemoryReport report_memory(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate,
                           bool explain) {
  MemoryReport d;
  d.catalog = stamp_of(catalog);
  d.model = describe_model(request.job, estimate);
  d.job = describe_job(request.job, estimate);
  d.hardware = describe_hardware(estimate);
  for (std::size_t i = 0; i < d.hardware.size(); ++i) {
    const HardwareFit& fit = estimate.hardware[i];
    if (fit.rejection) continue;
    const ServingLimits limits =
        serving_limits({&estimate.model, estimate.engine, catalog.visible_memory(*fit.accelerator), fit.layout,
                        estimate.request, &catalog, fit.accelerator},
                       fit.demand);
    d.hardware[i].limits = HardwareDocument::Limits{
        limits.pool.size.base(), limits.pool.tokens, static_cast<double>(limits.longest_context), limits.flags, {}};
    for (const auto& term : fit.memory.host.terms()) {
      d.hardware[i].limits->host.push_back(
          {std::string(term.id), term.value.base(), term.low.base(), term.high.base()});
    }
  }
  if (explain && !estimate.hardware.empty() && !estimate.hardware.front().rejection) {
    const HardwareFit& fit = estimate.hardware.front();
    Explain why;
    (void)inference_memory({&estimate.model, estimate.engine, catalog.visible_memory(*fit.accelerator), fit.layout,
                            estimate.request, &catalog, fit.accelerator},
                           fit.demand, &why);
    d.explanation = why.terms();
  }
  return d;
}

}  // namespace gpuplan
