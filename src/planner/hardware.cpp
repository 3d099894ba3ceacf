#include "hardware.hpp"

#include <gpuplan/planner/quality.hpp>

#include <algorithm>

namespace gpuplan {

RequestShape request_shape(const JobSpec& job) { return {job.context.value, job.input.value, job.output.value}; }

Fabric fabric_without_offer(const Catalog& catalog, const Accelerator& accelerator, const Layout& layout) {
  Fabric fabric = fabric_of(catalog, accelerator, {}, {}, layout.tp);
  fabric.between = fabric.inside;
  return fabric;
}

HostSizes::HostSizes(const Catalog& catalog) {
  for (const NodeDesign& node : catalog.nodes()) {
    for (const Text name : node.accelerators) {
      std::int64_t& most = per_host_[std::string(name)];
      most = std::max(most, node.count.or_else(1));
    }
  }
}

std::int64_t HostSizes::of(const Accelerator& accelerator) const {
  if (sits_in_a_slot(accelerator)) return accelerator.host_link.empty() ? 1 : kDevicesPerHost;
  if (const auto found = per_host_.find(accelerator.name); found != per_host_.end()) return found->second;
  return std::min(accelerator.scale_up_domain.or_else(1), kDevicesPerHost);
}

HardwareTable::HardwareTable(const Catalog& catalog, const EstimateRequest& request, const ServedModel& model,
                             const Engine& engine, const Ceilings& ceilings)
    : catalog_(catalog),
      model_(model),
      engine_(engine),
      ceilings_(ceilings),
      request_(request_shape(request.job)),
      quality_(request.min_quality ? below_quality(catalog, model, *request.min_quality) : std::nullopt),
      hosts_(catalog) {}

const std::optional<Rejection>& HardwareTable::rejection(const Accelerator& accelerator) {
  const auto [entry, fresh] = rejections_.try_emplace(&accelerator);
  if (!fresh) return entry->second;
  entry->second = check_engine(engine_, accelerator, model_.scheme);
  if (!entry->second) entry->second = quality_;
  if (!entry->second && !catalog_.visible_memory(accelerator).known()) {
    entry->second = Rejection{"memory.unknown", "the memory a program can use", "not in the catalogue",
                              "a --catalog file that states it"};
  }
  if (!entry->second && ceilings_.compute(accelerator, model_.scheme.arithmetic) <= FlopPerSecond{}) {
    entry->second =
        Rejection{"compute.unknown", "the peak of " + std::string(to_string(model_.scheme.arithmetic)) + " products",
                  "not in the catalogue", "a --catalog file that states it"};
  }
  return entry->second;
}

InferenceMemoryInputs HardwareTable::memory_inputs(const Accelerator& accelerator, const Layout& layout) const {
  return {&model_, &engine_, catalog_.visible_memory(accelerator), layout, request_, &catalog_, &accelerator};
}

std::int64_t HardwareTable::max_concurrency(const Accelerator& accelerator, const Layout& layout) {
  const auto [entry, fresh] = concurrency_.try_emplace({&accelerator, layout.tp, layout.pp}, 0);
  if (fresh) entry->second = gpuplan::max_concurrency(memory_inputs(accelerator, layout));
  return entry->second;
}

// Whether devices can work on one model together: over a link whose rate is known.
bool HardwareTable::joins_devices(const Accelerator& accelerator) {
  const auto [entry, fresh] = joined_.try_emplace(&accelerator, false);
  if (fresh) entry->second = fabric_of(catalog_, accelerator, {}, {}, 2).inside.rate > BytesPerSecond{};
  return entry->second;
}

const std::vector<LayoutFit>& HardwareTable::layouts_inside(const Accelerator& accelerator, std::int64_t devices) {
  const auto [entry, fresh] = inside_.try_emplace({&accelerator, devices});
  if (fresh) entry->second = find_inside(accelerator, devices);
  return entry->second;
}

const std::vector<LayoutFit>& HardwareTable::layouts_across(const Accelerator& accelerator,
                                                            std::int64_t devices_per_host) {
  const auto [entry, fresh] = across_.try_emplace({&accelerator, devices_per_host});
  if (fresh) entry->second = find_across(accelerator, devices_per_host);
  return entry->second;
}

const InferenceMemory& HardwareTable::footprint(const Accelerator& accelerator, const Layout& layout,
                                                std::int64_t demand) {
  const auto [entry, fresh] = footprints_.try_emplace({&accelerator, layout.tp, layout.pp, demand});
  if (fresh) entry->second = inference_memory(memory_inputs(accelerator, layout), demand, nullptr);
  return entry->second;
}

std::vector<LayoutFit> HardwareTable::find_inside(const Accelerator& accelerator, std::int64_t devices) {
  std::vector<LayoutFit> fits;
  const std::int64_t most = joins_devices(accelerator) ? devices : 1;
  const auto degrees = tensor_parallel_degrees(model_.architecture, most);
  for (std::int64_t n = 1; n <= most; ++n) {
    // The widest tensor parallelism that divides n; the rest is pipeline.
    const auto widest = std::find_if(degrees.rbegin(), degrees.rend(), [&](std::int64_t tp) { return n % tp == 0; });
    const Layout layout{*widest, n / *widest, 1};
    if (layout.pp > model_.architecture.layers) continue;
    if (const std::int64_t held = max_concurrency(accelerator, layout); held > 0) fits.push_back({layout, held});
  }
  return fits;
}

std::vector<LayoutFit> HardwareTable::find_across(const Accelerator& accelerator, std::int64_t devices_per_host) {
  std::vector<LayoutFit> fits;
  const auto degrees = tensor_parallel_degrees(model_.architecture, devices_per_host);
  if (degrees.empty() || !joins_devices(accelerator)) return fits;
  constexpr std::int64_t kMostHosts = 16;  // beyond it a request waits for more hops than anybody serves with
  for (std::int64_t hosts = 2; hosts <= kMostHosts && hosts <= model_.architecture.layers; hosts *= 2) {
    const Layout layout{degrees.back(), hosts, 1};
    if (const std::int64_t most = max_concurrency(accelerator, layout); most > 0) {
      fits.push_back({layout, most});
      break;
    }
  }
  return fits;
}

}  // namespace gpuplan
