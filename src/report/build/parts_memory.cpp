#include "parts.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/report/build.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

Spread spread_of(const Interval<double>& rate, double devices) {
  return {rate.value * devices, rate.low * devices, rate.high * devices};
}

}  // namespace

RunDocument describe_run(const PartsTime& time, double devices) {
  RunDocument run;
  run.batch = time.items;
  run.latency_s = {time.latency.value.base(), time.latency.low.base(), time.latency.high.base()};
  run.items_per_s = spread_of(time.items_per_s(), devices);
  if (const auto tokens = time.tokens_per_s()) run.tokens_per_s = spread_of(*tokens, devices);
  if (const auto audio = time.audio_speed()) run.audio_speed = spread_of(*audio, devices);
  return run;
}

ModelDocument describe_network(const JobSpec& job, const PartsPlan& plan) {
  const StoredNetwork& stored = plan.model;
  ModelDocument model;
  model.name = plan.identity.name;
  model.requested = job.model.value;
  model.source = plan.identity.source;
  model.not_modelled = plan.not_modelled;
  model.parameters = as_double(parameters(stored.network));
  model.active_parameters = as_double(active_parameters(stored.network));
  model.weights_format = stored.scheme.name;
  double counted = 0;
  for (const NetworkPart& part : stored.network.parts) {
    if (!part.loaded) continue;
    const Bytes size = weights_bytes(part.tensors, part_scheme(stored.network, part, stored.scheme, stored.rules));
    model.parts.push_back({part.name, as_double(parameters(part.tensors)), size.base(), 0});
    counted += size.base();
  }
  model.weights_bytes = stored.stored ? stored.stored->base() : counted;
  for (ModelDocument::Part& part : model.parts) {
    if (counted > 0) part.bytes *= model.weights_bytes / counted;
    if (part.parameters > 0) part.bits_per_weight = 8 * part.bytes / part.parameters;
  }
  return model;
}

std::vector<JobValue> describe_parts_job(const JobSpec& job, const PartsPlan& plan) {
  const auto any = [&](auto holds) {
    return std::any_of(plan.model.network.parts.begin(), plan.model.network.parts.end(), holds);
  };
  std::vector<JobValue> values = {
      {"type", std::string(to_string(plan.type)), job.type.is_default},
      {"model", plan.identity.name, false},
      {"dtype", plan.model.scheme.name, job.dtype.is_default},
      {"batch", plan.job.chooses_batch ? std::variant<std::string, double>("best") : as_double(plan.job.batch),
       plan.job.chooses_batch || plan.job.batch == 1}};
  ItemSize size;
  for (const NetworkPart& part : plan.model.network.parts) {
    const bool first = !size.is_known() || is_denoiser(part);
    if (first && item_size(part).is_known()) size = item_size(part);
  }
  const bool asked = plan.job.width > 0;
  if (size.is_known()) {
    values.push_back({"width", asked ? as_double(plan.job.width) : size.width, !asked});
    values.push_back({"height", asked ? as_double(plan.job.height) : size.height, !asked});
  }
  if (size.frames > 1)
    values.push_back({"frames", plan.job.frames > 0 ? as_double(plan.job.frames) : size.frames, plan.job.frames == 0});
  // A decoder of speech writes as much text as there is sound.
  if (any([](const NetworkPart& part) {
        return part.item == "token" && part.name.find("decoder") == std::string::npos;
      }))
    values.push_back({"length", text_length(plan.model.network, plan.job, kUsualLength), plan.job.length == 0});
  for (const NetworkPart& part : plan.model.network.parts) {
    if (is_denoiser(part)) values.push_back({"steps", sampler_steps(plan.job, part), plan.job.steps == 0});
  }
  if (plan.job.audio > 0) values.push_back({"audio", plan.job.audio, false});
  if (plan.job.items > 0) values.push_back({"items", plan.job.items, false});
  if (plan.job.tokens > 0) values.push_back({"tokens", plan.job.tokens, false});
  values.push_back({"offload", std::string(to_string(plan.job.offload)), plan.job.offload == Offload::none});
  if (any(is_denoiser)) {
    values.push_back({"vae", std::string(to_string(plan.job.vae)), plan.job.vae == VaeMode::whole});
    const bool guided = plan.job.guidance.value_or(any(doubles_batch));
    values.push_back({"guidance", std::string(guided ? "yes" : "no"), !plan.job.guidance.has_value()});
  }
  const bool flash = plan.job.flash_attention.value_or(!plan.runtime->stores_scores);
  values.push_back({"flash_attention", std::string(flash ? "yes" : "no"), !plan.job.flash_attention.has_value()});
  values.push_back({"engine", std::string(plan.runtime->name), job.engine.is_default});
  return values;
}

MemoryDocumentPart describe_parts_memory(const PartsMemory& memory) {
  MemoryDocumentPart part;
  part.per_device_bytes = memory.terms.total().base();
  part.capacity_bytes = memory.capacity.base();
  part.headroom_bytes = memory.headroom().base();
  part.verdict = to_string(memory.verdict);
  for (const auto& term : memory.terms.terms())
    part.terms.push_back({std::string(term.id), term.value.base(), term.low.base(), term.high.base()});
  return part;
}

HardwareDocument describe_fit(const PartsPlan& plan, const PartsFit& fit) {
  HardwareDocument document;
  document.accelerator = fit.accelerator->name;
  if (fit.rejection) {
    document.rule = fit.rejection->rule;
    document.needed = fit.rejection->needed;
    document.available = fit.rejection->available;
    document.smallest_change = fit.rejection->smallest_change;
    return document;
  }
  document.count = fit.count;
  document.layout.dp = as_double(fit.count);
  document.layout.engine = plan.runtime->name;
  document.memory = describe_parts_memory(fit.memory);
  if (fit.time) document.run = describe_run(*fit.time, as_double(fit.count));
  return document;
}

MemoryReport report_parts(const Catalog& catalog, const JobSpec& job, const PartsPlan& plan, bool explain) {
  MemoryReport d;
  d.catalog = stamp_of(catalog);
  d.model = describe_network(job, plan);
  d.job = describe_parts_job(job, plan);
  for (const PartsFit& fit : plan.hardware) d.hardware.push_back(describe_fit(plan, fit));
  if (explain && !plan.hardware.empty() && !plan.hardware.front().rejection) {
    Explain why;
    (void)parts_memory(inputs_of(catalog, plan, *plan.hardware.front().accelerator), &why);
    d.explanation = why.terms();
  }
  return d;
}

}  // namespace gpuplan
