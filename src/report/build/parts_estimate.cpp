#include "parts.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <set>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

OptionDocument describe_option(const Catalog& catalog, const PartsEstimate& estimate, const PartsOption& option,
                               std::int64_t rank) {
  OptionDocument d = describe_planned(catalog, option, rank);
  d.replicas = option.devices;
  d.layout.dp = as_double(option.devices);
  d.layout.engine = estimate.plan.runtime->name;
  d.quality.format = estimate.plan.model.scheme.name;
  d.memory = describe_parts_memory(option.memory);
  RunDocument run = describe_run(option.time, as_double(option.devices));
  if (option.total) {
    run.total_s = Spread{option.total->value.base(), option.total->low.base(), option.total->high.base()};
    run.total_cost = option.total_cost;
  }
  run.per_1000_items = option.per_1000_items;
  run.per_1m_tokens = option.per_1m_tokens;
  run.per_audio_hour = option.per_audio_hour;
  d.cost.per_hour = option.per_hour;
  d.cost.per_month = option.per_month;
  for (const auto& term : option.bill.terms()) d.cost.terms.push_back({std::string(term.id), term.value});
  d.run = std::move(run);
  d.at_basis = "batch";
  return d;
}

// The least option by a measure; null when there is none but the first.
template <class Measure>
const PartsOption* least(const std::vector<PartsOption>& options, Measure measure) {
  const auto found = std::min_element(options.begin(), options.end(), [&](const PartsOption& a, const PartsOption& b) {
    return measure(a) < measure(b);
  });
  return found == options.begin() ? nullptr : &*found;
}

std::vector<ChangeDocument> changes_of(const PartsEstimate& estimate, std::string_view currency) {
  std::vector<ChangeDocument> changes;
  if (estimate.options.empty()) return changes;
  const auto money = [&](double amount) { return format_significant(amount, 3) + " " + std::string(currency); };
  const std::string items = std::string(to_string(estimate.item)) + "s";
  if (const PartsOption* cheap = least(estimate.options, [](const PartsOption& o) { return o.per_1000_items; })) {
    changes.push_back({"full_load", "cheapest under steady load: " + name_option(*cheap) + ", " +
                                        money(cheap->per_1000_items) + " per 1,000 " + items});
  }
  if (const PartsOption* fast = least(estimate.options, [](const PartsOption& o) { return o.time.latency.value; })) {
    changes.push_back({"latency", "fastest batch: " + name_option(*fast) + ", " +
                                      format_seconds(fast->time.latency.value) + ", " + money(fast->per_month) +
                                      " a month"});
  }
  return changes;
}

}  // namespace

EstimateDocument report_estimate(const Catalog& catalog, const EstimateRequest& request, const PartsEstimate& estimate,
                                 bool explain) {
  EstimateDocument d;
  d.model = describe_network(request.job, estimate.plan);
  d.job = describe_parts_job(request.job, estimate.plan);
  d.item = to_string(estimate.item);
  for (const PartsFit& fit : estimate.plan.hardware) d.hardware.push_back(describe_fit(estimate.plan, fit));
  std::int64_t rank = 0;
  for (const PartsOption& option : estimate.options)
    d.options.push_back(describe_option(catalog, estimate, option, ++rank));
  const PartsPlan& plan = estimate.plan;
  attach_evidence(evidence_of(catalog, EvidenceJob::parts, plan.identity, plan.runtime->name, plan.model.scheme.name),
                  estimate.options, d.options);
  describe_market(catalog, request, currencies_of(estimate.options), estimate.rejected, estimate.warnings, d);
  if (estimate.limits_failed) d.no_option = kept_by_none(estimate.limits, request.currency);
  d.changes = changes_of(estimate, request.currency);
  d.explanation = explained(explain && !estimate.options.empty(), [&](Explain& why) {
    explain_option(catalog, request, estimate, estimate.options.front(), why);
  });
  return d;
}

}  // namespace gpuplan
