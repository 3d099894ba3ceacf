#pragma once
// Every accelerator with every layout, evaluated once, before any offer is looked at.

#include <gpuplan/planner/estimate.hpp>

#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace gpuplan {

// The memory side of a layout on an accelerator.
struct LayoutFit {
  Layout layout;
  std::int64_t max_concurrency = 0;
};

// The most devices that share a host, from the node designs.
class HostSizes {
 public:
  explicit HostSizes(const Catalog& catalog);
  [[nodiscard]] std::int64_t of(const Accelerator& accelerator) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> per_host_;
};

class HardwareTable {
 public:
  HardwareTable(const Catalog& catalog, const EstimateRequest& request, const ServedModel& model, const Engine& engine,
                const Ceilings& ceilings);

  // Why an accelerator cannot run the job at all, whatever the number; found on first use.
  const std::optional<Rejection>& rejection(const Accelerator& accelerator);
  // How many sequences a replica of this layout holds; computed on first use.
  std::int64_t max_concurrency(const Accelerator& accelerator, const Layout& layout);
  // Layouts of one replica inside a host of `devices`, one for each number, fewest first, that hold at least one sequence.
  const std::vector<LayoutFit>& layouts_inside(const Accelerator& accelerator, std::int64_t devices);
  // Layouts over several hosts: tensor parallel inside, pipeline between.
  const std::vector<LayoutFit>& layouts_across(const Accelerator& accelerator, std::int64_t devices_per_host);
  // What a device of the layout holds with so many requests on a replica.
  const InferenceMemory& footprint(const Accelerator& accelerator, const Layout& layout, std::int64_t demand);
  [[nodiscard]] InferenceMemoryInputs memory_inputs(const Accelerator& accelerator, const Layout& layout) const;
  [[nodiscard]] std::int64_t devices_per_host(const Accelerator& accelerator) const { return hosts_.of(accelerator); }

 private:
  // Whoever rents an accelerator out, what is known of it is worked out once.
  using Devices = std::pair<const Accelerator*, std::int64_t>;
  using Loaded = std::tuple<const Accelerator*, std::int64_t, std::int64_t, std::int64_t>;  // TP, PP, requests
  bool joins_devices(const Accelerator& accelerator);
  [[nodiscard]] std::vector<LayoutFit> find_inside(const Accelerator& accelerator, std::int64_t devices);
  [[nodiscard]] std::vector<LayoutFit> find_across(const Accelerator& accelerator, std::int64_t devices_per_host);

  const Catalog& catalog_;
  const ServedModel& model_;
  const Engine& engine_;
  const Ceilings& ceilings_;
  RequestShape request_;
  std::map<std::tuple<const Accelerator*, std::int64_t, std::int64_t>, std::int64_t> concurrency_;
  std::optional<Rejection> quality_;  // the same of all accelerators
  std::map<const Accelerator*, std::optional<Rejection>> rejections_;
  std::map<const Accelerator*, bool> joined_;
  std::map<Devices, std::vector<LayoutFit>> inside_;
  std::map<Devices, std::vector<LayoutFit>> across_;
  std::map<Loaded, InferenceMemory> footprints_;
  HostSizes hosts_;
};

RequestShape request_shape(const JobSpec& job);

// Without an offer nothing is known of a network: stages are taken to share a host.
Fabric fabric_without_offer(const Catalog& catalog, const Accelerator& accelerator, const Layout& layout);

}  // namespace gpuplan
