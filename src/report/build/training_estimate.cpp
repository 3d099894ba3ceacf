#include "parts.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

TrainRunDocument describe_run(const TrainingEstimate& estimate, const TrainingOption& option) {
  TrainRunDocument t;
  const TrainingSpec& job = option.job;
  t.vpp = as_double(job.vpp);
  t.micro_batch = as_double(job.micro_batch);
  t.grad_accum = as_double(job.grad_accum);
  t.zero = zero_stage(job.sharding);
  t.sequence_parallel = job.sequence_parallel;
  t.recompute = to_string(option.memory.recompute);
  t.sharding = to_string(job.sharding);
  t.tokens_per_s = spread_of(option.time.tokens_per_s);
  t.step_s = spread_of(option.time.step);
  t.work_s = spread_of(option.work);
  t.total_s = spread_of(option.total);
  if (option.time.mfu > 0) t.mfu = option.time.mfu;
  if (option.time.hfu > 0) t.hfu = option.time.hfu;
  t.tokens = estimate.tokens;
  t.steps = std::max(1.0, std::ceil(estimate.tokens / option.time.tokens_per_step));
  t.global_batch = as_double(job.micro_batch * job.grad_accum * job.dp);
  for (const auto& term : option.time.terms.terms()) t.step_terms.push_back({std::string(term.id), term.value.base()});
  t.checkpoint_bytes = option.checkpoint.base();
  t.save_s = option.save.base();
  if (option.goodput && option.goodput->finishes) {
    t.checkpoint_interval_s = option.goodput->interval.base();
    t.interruptions = option.goodput->failures;
    t.goodput = option.goodput->share;
  }
  if (option.spot) {
    t.checkpoint_interval_s = option.spot->interval.base();
    t.interruptions = option.spot->interruptions;
    t.goodput = 1 / option.spot->inflation;
    t.spot_verdict = to_string(option.spot->verdict);
  }
  t.cost_total = option.cost.p50();
  t.cost_p90 = option.cost.p90();
  t.per_1m_tokens = option.cost.p50() / estimate.tokens * 1e6;
  return t;
}

OptionDocument describe_option(const Catalog& catalog, const TrainingEstimate& estimate, const TrainingOption& option,
                               std::int64_t rank) {
  OptionDocument d = describe_planned(catalog, option, rank);
  if (option.devices > 1) d.interconnect = fabric_name(option.fabric, option.devices / option.hosts, option.hosts);
  const TrainingSpec& job = option.job;
  d.replicas = job.dp;
  d.gpus_per_replica = job.tp * job.pp * job.cp;
  d.layout = {as_double(job.tp), as_double(job.pp), as_double(job.dp),
              as_double(job.ep), as_double(job.cp), std::string(estimate.framework->name)};
  d.quality.format = to_string(job.precision);
  d.memory = describe_training_memory(option.memory);
  d.train = describe_run(estimate, option);
  d.cost.per_hour = option.per_hour;
  d.cost.per_month = option.per_hour * hours_per_month(*option.provider);
  for (const auto& term : option.cost.terms.terms()) d.cost.terms.push_back({std::string(term.id), term.value});
  d.at_basis = "step";
  return d;
}

std::vector<JobValue> describe_job(const TrainingEstimateRequest& request, const TrainingEstimate& estimate) {
  const TrainingSpec& job = request.training.training;
  const TrainingSpec usual;
  std::vector<JobValue> values;
  const auto word = [&](std::string name, std::string_view value, bool is_default) {
    values.push_back({std::move(name), std::string(value), is_default});
  };
  word("type", to_string(job.method), false);
  word("model", estimate.identity.name, false);
  values.push_back({"tokens", estimate.tokens, request.load.tokens <= 0});
  values.push_back({"seq", as_double(job.sequence), job.sequence == usual.sequence});
  values.push_back({"global_batch", as_double(estimate.global_batch), request.load.global_batch <= 0});
  word("optimizer", to_string(job.optimizer), job.optimizer == usual.optimizer);
  word("precision", to_string(job.precision), job.precision == usual.precision);
  if (job.trains_adapters()) {
    values.push_back({"lora_rank", as_double(job.lora_rank), request.training.lora_rank_is_default});
    word("lora_targets", to_string(job.lora_targets), request.training.lora_targets_are_default);
  }
  word("framework", estimate.framework->name, request.training.framework == "pytorch");
  if (request.load.deadline) word("deadline", format_seconds(*request.load.deadline), false);
  if (request.load.budget) values.push_back({"budget", *request.load.budget, false});
  return values;
}

// The rule that most offers failed, with the numbers of one of them.
std::string why_nothing_runs(const TrainingEstimate& estimate) {
  std::map<std::string, std::pair<std::int64_t, const Rejection*>> rules;
  for (const RejectedOffer& offer : estimate.rejected) {
    auto& [count, example] = rules[offer.rejection.rule];
    ++count;
    if (!example) example = &offer.rejection;
  }
  const auto most = std::max_element(rules.begin(), rules.end(),
                                     [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  if (most == rules.end()) return "no offer matches";
  const Rejection& r = *most->second.second;
  return estimate.identity.name + " trains on none of the " + std::to_string(estimate.rejected.size()) +
         " offers; most fail by " + r.rule + ": needs " + r.needed + ", available: " + r.available +
         "; would help: " + r.smallest_change;
}

std::string why_no_option(const TrainingEstimateRequest& request, const TrainingEstimate& estimate) {
  if (!estimate.options.empty()) return {};
  if (!estimate.limits_failed) return why_nothing_runs(estimate);
  return kept_by_none({request.load.deadline, request.load.budget}, request.offers.currency);
}

std::vector<ChangeDocument> changes_of(const TrainingEstimate& estimate, std::string_view currency) {
  std::vector<ChangeDocument> changes;
  if (estimate.options.empty()) return changes;
  const TrainingOption& best = estimate.options.front();
  const auto least = [&](auto measure) {
    return &*std::min_element(
        estimate.options.begin(), estimate.options.end(),
        [&](const TrainingOption& a, const TrainingOption& b) { return measure(a) < measure(b); });
  };
  const auto told = [&](const TrainingOption& o) {
    return name_option(o) + ", " + format_seconds(o.total.value) + ", " + format_significant(o.cost.p50(), 3) + " " +
           std::string(currency);
  };
  const TrainingOption* fast = least([](const TrainingOption& o) { return o.total.value.base(); });
  if (fast != &best) changes.push_back({"fastest", "soonest done: " + told(*fast)});
  const TrainingOption* cheap = least([](const TrainingOption& o) { return o.cost.p50(); });
  if (cheap != &best) changes.push_back({"cheapest", "cheapest: " + told(*cheap)});
  return changes;
}

}  // namespace

EstimateDocument report_training_estimate(const Catalog& catalog, const TrainingEstimateRequest& request,
                                          const TrainingEstimate& estimate, bool explain) {
  EstimateDocument d;
  Estimate shown;  // what describes a model reads of it
  shown.model = estimate.model;
  shown.identity = estimate.identity;
  d.model = describe_model(request.training.job, shown);
  d.job = describe_job(request, estimate);
  std::int64_t rank = 0;
  for (const TrainingOption& option : estimate.options)
    d.options.push_back(describe_option(catalog, estimate, option, ++rank));
  attach_evidence(evidence_of(catalog, EvidenceJob::train, estimate.identity, estimate.framework->name, {}),
                  estimate.options, d.options);
  describe_market(catalog, request.offers, currencies_of(estimate.options), estimate.rejected, estimate.warnings, d);
  d.no_option = why_no_option(request, estimate);
  d.changes = changes_of(estimate, request.offers.currency);
  d.explanation = explained(explain && !estimate.options.empty(), [&](Explain& why) {
    explain_training_option(catalog, request, estimate, estimate.options.front(), why);
  });
  return d;
}

}  // namespace gpuplan
