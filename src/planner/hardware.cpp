#include "hardware.hpp"

#include <algorithm>

namespace gpuplan {

RequestShape request_shape(const JobSpec& job) { return {job.context.value, job.input.value, job.output.value}; }

HardwareTable::HardwareTable(const Catalog& catalog, const EstimateRequest& request, const ServedModel& model, const Engine& engine)
    : catalog_(catalog), model_(model), engine_(engine), request_(request_shape(request.job)) {
  for (const NodeDesign& node : catalog.nodes()) {
    for (const Text name : node.accelerators) {
      std::int64_t& most = per_host_[std::string(name)];
      most = std::max(most, node.count.or_else(1));
    }
  }
}

const std::optional<Rejection>& HardwareTable::rejection(const Accelerator& accelerator) {
  const auto [entry, fresh] = rejections_.try_emplace(&accelerator);
  if (!fresh) return entry->second;
  entry->second = check_engine(engine_, accelerator, *model_.scheme);
  if (!entry->second && !catalog_.visible_memory(accelerator).known()) {
    entry->second = Rejection{"memory.unknown", "the memory a program can use", "not in the catalogue", "a --catalog file that states it"};
  }
  return entry->second;
}

InferenceMemoryInputs HardwareTable::memory_inputs(const Accelerator& accelerator, const Layout& layout) const {
  return {&model_, &engine_, catalog_.visible_memory(accelerator), layout, request_};
}

std::int64_t HardwareTable::max_concurrency(const Accelerator& accelerator, const Layout& layout) {
  const auto [entry, fresh] = concurrency_.try_emplace({&accelerator, layout.tp, layout.pp}, 0);
  if (fresh) entry->second = gpuplan::max_concurrency(memory_inputs(accelerator, layout));
  return entry->second;
}

std::vector<LayoutFit> HardwareTable::layouts_inside(const Accelerator& accelerator, std::int64_t devices) {
  std::vector<LayoutFit> fits;
  const bool joined = !accelerator.host_link.empty() || !accelerator.scale_up_link.empty();
  for (const std::int64_t tp : tensor_parallel_degrees(model_.architecture, joined ? devices : 1)) {
    const Layout layout{tp, 1, 1};
    if (const std::int64_t most = max_concurrency(accelerator, layout); most > 0) fits.push_back({layout, most});
  }
  return fits;
}

std::vector<LayoutFit> HardwareTable::layouts_across(const Accelerator& accelerator, std::int64_t devices_per_host) {
  std::vector<LayoutFit> fits;
  const auto degrees = tensor_parallel_degrees(model_.architecture, devices_per_host);
  if (degrees.empty() || (accelerator.host_link.empty() && accelerator.scale_up_link.empty())) return fits;
  for (std::int64_t hosts = 2; hosts <= 16 && hosts <= model_.architecture.layers; hosts *= 2) {
    const Layout layout{degrees.back(), hosts, 1};
    if (const std::int64_t most = max_concurrency(accelerator, layout); most > 0) {
      fits.push_back({layout, most});
      break;
    }
  }
  return fits;
}

std::int64_t HardwareTable::devices_per_host(const Accelerator& accelerator) const {
  const auto found = per_host_.find(accelerator.name);
  return found == per_host_.end() ? kDevicesPerHost : found->second;
}

}  // namespace gpuplan
