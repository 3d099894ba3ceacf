#include "parts.hpp"

#include <gpuplan/base/text.hpp>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

std::string recompute_word(const TrainingSpec& job, const TrainingFramework& framework) {
  return std::string(job.recompute ? to_string(*job.recompute) : std::string_view(framework.recompute));
}

// Each value with whether somebody gave it.
std::vector<JobValue> describe_training(const TrainingRequest& request, const TrainingPlan& plan) {
  const TrainingSpec& job = plan.hardware.empty() ? request.training : plan.hardware.front().job;
  std::vector<JobValue> values;
  const TrainingSpec usual;
  const auto word = [&](std::string name, std::string value, bool is_default) {
    values.push_back({std::move(name), std::move(value), is_default});
  };
  const auto whole = [&](std::string name, std::int64_t value, std::int64_t otherwise) {
    values.push_back({std::move(name), as_double(value), value == otherwise});
  };
  word("type", std::string(to_string(job.method)), false);
  word("model", plan.identity.name, false);
  word("dtype", job.quantizes_weights() ? plan.model.scheme.name : std::string(), request.dtype_is_default);
  if (std::get<std::string>(values.back().value).empty()) values.pop_back();
  whole("seq", job.sequence, usual.sequence);
  whole("micro_batch", job.micro_batch, usual.micro_batch);
  whole("grad_accum", job.grad_accum, usual.grad_accum);
  word("optimizer", std::string(to_string(job.optimizer)), job.optimizer == usual.optimizer);
  word("precision", std::string(to_string(job.precision)), job.precision == usual.precision);
  word("recompute", recompute_word(job, *plan.framework), !job.recompute);
  if (job.trains_adapters()) {
    values.push_back({"lora_rank", as_double(job.lora_rank), request.lora_rank_is_default});
    word("lora_targets", to_string(job.lora_targets), request.lora_targets_are_default);
  }
  const auto loss = job.cross_entropy ? to_string(*job.cross_entropy) : std::string_view(plan.framework->cross_entropy);
  word("cross_entropy", std::string(loss), !job.cross_entropy);
  word("flash_attention", job.flash_attention ? "yes" : "no", job.flash_attention);
  word("offload", std::string(to_string(job.offload)), job.offload == TrainingOffload::none);
  word("framework", std::string(plan.framework->name), request.framework == "pytorch");
  return values;
}

TrainingHardwareDocument describe(const TrainingPlan& plan, const TrainingFit& fit) {
  TrainingHardwareDocument h;
  h.accelerator = fit.accelerator->name;
  h.count = fit.job.devices();
  h.tp = as_double(fit.job.tp);
  h.pp = as_double(fit.job.pp);
  h.vpp = as_double(fit.job.vpp);
  h.dp = as_double(fit.job.dp);
  h.ep = as_double(fit.job.ep);
  h.cp = as_double(fit.job.cp);
  h.zero = zero_stage(fit.job.sharding);
  h.sharding = to_string(fit.job.sharding);
  h.micro_batch = as_double(fit.job.micro_batch);
  h.recompute = to_string(fit.memory.recompute);
  h.framework = plan.framework->name;
  h.memory = describe_training_memory(fit.memory);
  h.peak_phase = to_string(fit.memory.peak().phase);
  h.peak_stage = fit.memory.peak().stage;
  for (const StageMemory& phase : fit.memory.phases)
    h.phases.push_back({phase.stage, std::string(to_string(phase.phase)), phase.terms.total().base()});
  h.largest_micro_batch = as_double(fit.largest_micro_batch);
  h.longest_sequence = as_double(fit.longest_sequence);
  if (fit.rejection) {
    h.rule = fit.rejection->rule;
    h.needed = fit.rejection->needed;
    h.available = fit.rejection->available;
    h.smallest_change = fit.rejection->smallest_change;
  }
  for (const TrainingChange& change : fit.changes)
    h.changes.push_back(
        {change.id, change.message, change.cost, std::string(to_string(change.verdict)), change.peak.base()});
  return h;
}

}  // namespace

double zero_stage(StateSharding sharding) {
  switch (sharding) {
    case StateSharding::none:
      return 0;
    case StateSharding::zero1:
      return 1;
    case StateSharding::zero2:
    case StateSharding::fsdp_grad:
      return 2;
    case StateSharding::zero3:
    case StateSharding::fsdp:
    case StateSharding::hsdp:
      return 3;
  }
  return 0;
}

MemoryDocumentPart describe_training_memory(const TrainingMemory& memory) {
  MemoryDocumentPart part;
  const StageMemory& peak = memory.peak();
  part.per_device_bytes = peak.terms.total().base();
  part.capacity_bytes = memory.capacity.base();
  part.headroom_bytes = memory.headroom().base();
  part.verdict = to_string(memory.verdict);
  for (const auto& term : peak.terms.terms())
    part.terms.push_back({std::string(term.id), term.value.base(), term.low.base(), term.high.base()});
  return part;
}

TrainingReport report_training(const Catalog& catalog, const TrainingRequest& request, const TrainingPlan& plan,
                               bool explain) {
  TrainingReport d;
  d.catalog = stamp_of(catalog);
  Estimate shown;  // what describes a model reads of it
  shown.model = plan.model;
  shown.identity = plan.identity;
  d.model = describe_model(request.job, shown);
  d.job = describe_training(request, plan);
  const TrainingSpec& job = plan.hardware.empty() ? request.training : plan.hardware.front().job;
  d.trained_parameters =
      job.trains_adapters() ? adapter_parameters(plan.model, job) : static_cast<double>(parameters(plan.model.tensors));
  for (const TrainingFit& fit : plan.hardware) d.hardware.push_back(describe(plan, fit));
  if (explain && !plan.hardware.empty()) {
    Explain why;
    (void)training_memory(inputs_of(catalog, plan, plan.hardware.front()), &why);
    d.explanation = why.terms();
  }
  return d;
}

}  // namespace gpuplan
