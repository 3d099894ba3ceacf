#include "parts.hpp"

#include "load.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/tensors.hpp>

#include <algorithm>

namespace gpuplan {
namespace {

// The language model's tensors by role, then what stands beside it by its part (`vision_tower`).
void add_parts(const ServedModel& served, ModelDocument& model) {
  const auto add = [&](const std::string& name, const TensorGroup& tensor) {
    if (model.parts.empty() || model.parts.back().role != name) model.parts.push_back({name});
    ModelDocument::Part& part = model.parts.back();
    const double rows = static_cast<double>(tensor.rows);
    const double columns = static_cast<double>(tensor.columns);
    part.parameters += static_cast<double>(tensor.elements());
    part.bytes +=
        static_cast<double>(tensor.count) * stored_bytes(storage_of(tensor, served.scheme), rows, columns).base();
  };
  std::vector<TensorGroup> by_role = served.tensors;
  std::stable_sort(by_role.begin(), by_role.end(),
                   [](const TensorGroup& one, const TensorGroup& other) { return one.role < other.role; });
  for (const TensorGroup& tensor : by_role) add(std::string(to_string(tensor.role)), tensor);
  for (const TensorGroup& tensor : served.beside) add(tensor.name.substr(0, tensor.name.find('.')), tensor);
  for (ModelDocument::Part& part : model.parts) part.bits_per_weight = 8 * part.bytes / part.parameters;
}

}  // namespace

CatalogStamp stamp_of(const Catalog& catalog) { return {GPUPLAN_VERSION, std::string(catalog.hash()), {}, {}}; }

ModelDocument describe_model(const JobSpec& job, const Estimate& estimate) {
  const ServedModel& served = estimate.model;
  ModelDocument model;
  model.name = estimate.identity.name;
  model.requested = job.model.value;
  model.source = estimate.identity.source;
  model.not_modelled = estimate.identity.not_modelled;
  model.parameters = static_cast<double>(parameters(served.network));
  model.active_parameters = static_cast<double>(active_parameters(served.network));
  model.weights_bytes = weights_of(served).base();
  model.weights_format = served.scheme.name;
  model.kv_bytes_per_token = kv_bytes_per_token(served.architecture, served.kv->element).base();
  add_parts(served, model);
  return model;
}

std::vector<JobValue> describe_job(const JobSpec& job, const Estimate& estimate) {
  const auto number = [](std::string name, const Setting<std::int64_t>& setting) {
    return JobValue{std::move(name), static_cast<double>(setting.value), setting.is_default};
  };
  std::vector<JobValue> values = {{"type", std::string(to_string(job.type.value)), job.type.is_default},
                                  {"model", estimate.identity.name, false},
                                  {"dtype", estimate.model.scheme.name, job.dtype.is_default},
                                  {"kv_dtype", std::string(estimate.model.kv->name), job.kv_dtype.is_default},
                                  number("context", job.context),
                                  number("input", job.input),
                                  number("output", job.output),
                                  number("concurrency", job.concurrency),
                                  {"engine", std::string(estimate.engine->name), job.engine.is_default}};
  describe_load_asked(job.load, values);
  const Residency& where = job.residency;
  const auto said = [&](std::string name, bool is_said, auto value) {
    if (is_said) values.push_back({std::move(name), std::move(value), false});
  };
  said("gpu_layers", where.device_layers.has_value(), static_cast<double>(where.device_layers.value_or(0)));
  said("cpu_moe", where.host_expert_layers > 0, static_cast<double>(where.host_expert_layers));
  said("kv_on_host", where.kv_on_host, std::string("yes"));
  said("draft", !where.draft.empty(), where.draft);
  said("beside", !where.beside.empty(), join(where.beside, ", "));
  said("adapters", where.adapters > 0, static_cast<double>(where.adapters));
  said("adapter_rank", where.adapters > 0, static_cast<double>(where.adapter_rank));
  return values;
}

MemoryDocumentPart describe_memory(const InferenceMemory& memory, std::int64_t max_concurrency) {
  MemoryDocumentPart part;
  part.per_device_bytes = memory.terms.total().base();
  part.capacity_bytes = memory.capacity.base();
  part.headroom_bytes = memory.headroom().base();
  part.verdict = to_string(memory.verdict);
  part.max_concurrency = static_cast<double>(max_concurrency);
  for (const auto& term : memory.terms.terms()) {
    part.terms.push_back({std::string(term.id), term.value.base(), term.low.base(), term.high.base()});
  }
  return part;
}

LatencyDocument describe_latency(const ServingTime& time) {
  return {time.ttft.value.base(), time.tpot.value.base(), time.decode.value.base()};
}

TimeDocument describe_time(const ServingTime& time, double replicas) {
  return {spread_of(time.ttft),
          spread_of(time.tpot),
          spread_of(time.prefill),
          spread_of(time.decode),
          spread_of(time.output, replicas),
          spread_of(time.step)};
}

void describe_replicas(const Option& option, const Engine& engine, OptionDocument& d) {
  if (option.layout.devices_per_replica() > 1)
    d.interconnect = fabric_name(option.fabric, option.layout.devices_per_replica() / option.hosts_per_replica,
                                 option.hosts_per_replica);
  d.replicas = option.layout.dp;
  d.gpus_per_replica = option.layout.devices_per_replica();
  d.layout = describe_layout(option.layout, engine);
  d.memory = describe_memory(option.memory, option.max_concurrency);
  d.cost.per_hour = option.per_hour;
  d.cost.per_month = option.per_month;
  d.cost.per_1m_output_tokens = option.per_1m_output_tokens;
}

LayoutDocument describe_layout(const Layout& layout, const Engine& engine) {
  LayoutDocument document;
  document.tp = static_cast<double>(layout.tp);
  document.pp = static_cast<double>(layout.pp);
  document.dp = static_cast<double>(layout.dp);
  document.engine = engine.name;
  return document;
}

std::vector<HardwareDocument> describe_hardware(const Estimate& estimate) {
  std::vector<HardwareDocument> all;
  for (const HardwareFit& fit : estimate.hardware) {
    HardwareDocument document;
    document.accelerator = fit.accelerator->name;
    if (fit.rejection) {
      document.rule = fit.rejection->rule;
      document.needed = fit.rejection->needed;
      document.available = fit.rejection->available;
      document.smallest_change = fit.rejection->smallest_change;
    } else {
      document.count = fit.layout.devices();
      document.layout = describe_layout(fit.layout, *estimate.engine);
      document.memory = describe_memory(fit.memory, fit.max_concurrency);
      if (fit.alone) document.alone = describe_latency(*fit.alone);
      if (fit.loaded) document.loaded = describe_time(*fit.loaded, static_cast<double>(fit.layout.dp));
    }
    all.push_back(std::move(document));
  }
  return all;
}

}  // namespace gpuplan
