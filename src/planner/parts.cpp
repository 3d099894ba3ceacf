#include <gpuplan/planner/parts.hpp>

#include <gpuplan/base/text.hpp>
#include <gpuplan/perf/ceilings.hpp>

#include <algorithm>
#include <utility>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

const Runtime& require_runtime(const Catalog& catalog, const JobSpec& job, const ResolvedModel& model) {
  const bool is_graph = model.files.config.model_type == "onnx";
  const std::string usual = has_denoiser(model.files.config.network) ? "diffusers"
                            : is_graph                               ? "onnxruntime"
                                                                     : "transformers";
  const std::string name = job.engine.is_default ? usual : job.engine.value;
  if (const Runtime* runtime = catalog.find_runtime(name)) return *runtime;
  std::vector<std::string> names;
  for (const Runtime& runtime : catalog.runtimes()) names.emplace_back(runtime.name);
  throw InputError(Problem{"input.unknown_name",
                           "'" + name + "' is no library for networks that do not generate token by token",
                           Place{"--engine", 0, 0},
                           join(names, ", "),
                           catalog.nearest_runtime(name),
                           {}});
}

Problem contradiction(std::string message, std::string flag, std::string expected) {
  return {"input.contradiction", std::move(message), Place{std::move(flag), 0, 0}, std::move(expected), {}, {}};
}

void check(const JobSpec& job, const PartsPlan& plan) {
  std::vector<Problem> problems;
  const auto any = [&](auto holds) {
    return std::any_of(plan.model.network.parts.begin(), plan.model.network.parts.end(), holds);
  };
  const std::string what = "'" + plan.identity.name + "'";
  if (!job.type.is_default && job.type.value != plan.type) {
    problems.push_back(contradiction("job '" + std::string(to_string(job.type.value)) + "' has no meaning for " + what,
                                     "--job", std::string(to_string(plan.type))));
  }
  if (job.parts.width > 0 && !any([](const NetworkPart& p) { return item_size(p).is_known(); }))
    problems.push_back(contradiction("no part of " + what + " has pictures of a known size", "--images", "no size"));
  if (job.parts.frames > 0 && !any([](const NetworkPart& p) { return item_size(p).frames > 1; }))
    problems.push_back(contradiction("no part of " + what + " is about videos", "--frames", "no frames"));
  if (!problems.empty()) throw InputError(std::move(problems));
}

// What the figures leave out, in words.
std::vector<std::string> left_out(const PartsPlan& plan) {
  std::vector<std::string> out = plan.identity.not_modelled;
  for (const NetworkPart& part : plan.model.network.parts) {
    if (!part.loaded) continue;
    const std::string name = part.name.empty() ? "the network" : part.name;
    if (part.item.empty())
      out.push_back("activations of " + name + ": its tensors alone are known, not what goes through them");
    if (part.item == "token" && part.name.find("decoder") != std::string::npos)
      out.push_back("cache of keys and values of the text that " + name + " generates");
  }
  return out;
}

Rejection too_large(const PartsPlan& plan, const PartsMemory& memory) {
  const bool can_offload = plan.job.offload != Offload::sequential && memory.parts.size() > 1;
  return {"memory", format_binary_bytes(memory.terms.total()), format_binary_bytes(memory.capacity),
          can_offload ? "--offload " + std::string(plan.job.offload == Offload::none ? "model" : "sequential") +
                            ", a smaller --batch or --dtype"
                      : "a smaller --batch, --images or --dtype"};
}

std::optional<Rejection> refused_map(const PartsPlan& plan, const PartsMemory& memory) {
  const double most = as_double(plan.runtime->map_elements.or_else(0));
  if (most <= 0) return std::nullopt;
  for (const PartFootprint& part : memory.parts) {
    if (part.largest_map <= most) continue;
    return Rejection{"runtime.map_elements", format_whole(part.largest_map) + " elements in one map of " + part.name,
                     format_whole(most), "--vae sliced, or a smaller --batch"};
  }
  return std::nullopt;
}

JobType job_of(const Network& network) {
  const bool recommends = std::any_of(network.parts.begin(), network.parts.end(),
                                      [](const NetworkPart& part) { return part.item == "sample"; });
  if (recommends) return JobType::recommend;
  return has_denoiser(network) ? JobType::generate : JobType::embed;
}

}  // namespace

bool has_denoiser(const Network& network) {
  return std::any_of(network.parts.begin(), network.parts.end(), is_denoiser);
}

bool runs_by_parts(const ResolvedModel& model) {
  const Network& network = model.files.config.network;
  return !network.decoder && !network.parts.empty();
}

PartsMemoryInputs inputs_of(const Catalog& catalog, const PartsPlan& plan, const Accelerator& accelerator) {
  return {&plan.model, plan.runtime, catalog.visible_memory(accelerator), plan.job, &catalog};
}

std::optional<Rejection> check_runtime(const Runtime& runtime, const Accelerator& accelerator) {
  const std::vector<std::string> vendors(runtime.vendors.begin(), runtime.vendors.end());
  if (vendors.empty() || std::find(vendors.begin(), vendors.end(), accelerator.vendor) != vendors.end())
    return std::nullopt;
  return Rejection{"engine.vendor", std::string(runtime.name) + " on " + std::string(accelerator.vendor),
                   join(vendors, ", "), "another --engine"};
}

// Libraries take fp16 where nobody asked for a format; what was asked for is not another one.
std::optional<Rejection> check_format(const PartsPlan& plan, const Accelerator& accelerator) {
  const bool lacks = plan.dtype_is_asked && plan.model.scheme.name == "bf16" && accelerator.form_factor != "cpu" &&
                     !has_arithmetic(accelerator, Arithmetic::bf16);
  if (!lacks) return std::nullopt;
  return Rejection{"engine.format", "arithmetic in bf16", "fp16 and fp32", "--dtype fp16"};
}

std::optional<Rejection> refusal(const PartsPlan& plan, const PartsMemory& memory) {
  if (auto rejection = refused_map(plan, memory)) return rejection;
  if (memory.verdict == FitVerdict::does_not_fit) return too_large(plan, memory);
  return std::nullopt;
}

PartsPlan plan_parts(const Catalog& catalog, const JobSpec& job, const ResolvedModel& model) {
  PartsPlan plan;
  plan.identity = model.identity;
  plan.model.network = model.files.config.network;
  plan.model.scheme = scheme_of(job, model);
  if (job.dtype.is_default) {
    plan.model.rules = model.files.config.module_rules;
    if (model.files.stored) plan.model.stored = bytes(as_double(model.files.stored->total_size()));
  }
  plan.runtime = &require_runtime(catalog, job, model);
  plan.type = job_of(plan.model.network);
  plan.job = job.parts;
  plan.dtype_is_asked = !job.dtype.is_default;
  check(job, plan);
  plan.not_modelled = left_out(plan);
  return plan;
}

PartsPlan fit_parts(const Catalog& catalog, const EstimateRequest& request, const ResolvedModel& model) {
  PartsPlan plan = plan_parts(catalog, request.job, model);
  for (const Accelerator& accelerator : catalog.accelerators()) {
    const bool chosen =
        request.accelerators.empty() ||
        std::find(request.accelerators.begin(), request.accelerators.end(), &accelerator) != request.accelerators.end();
    if (!chosen || !catalog.visible_memory(accelerator).known()) continue;
    PartsFit fit;
    fit.accelerator = &accelerator;
    fit.count = request.count.value_or(1);
    fit.memory = parts_memory(inputs_of(catalog, plan, accelerator), nullptr);
    fit.rejection = check_runtime(*plan.runtime, accelerator);
    if (!fit.rejection) fit.rejection = check_format(plan, accelerator);
    if (!fit.rejection) fit.rejection = refusal(plan, fit.memory);
    plan.hardware.push_back(std::move(fit));
  }
  std::stable_sort(plan.hardware.begin(), plan.hardware.end(), [](const PartsFit& a, const PartsFit& b) {
    if (a.rejection.has_value() != b.rejection.has_value()) return b.rejection.has_value();
    return a.memory.capacity < b.memory.capacity;
  });
  return plan;
}

}  // namespace gpuplan
