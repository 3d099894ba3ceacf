#include <gpuplan/planner/topology.hpp>

#include <gpuplan/base/error.hpp>

#include <algorithm>
#include <string>

namespace gpuplan {
namespace {

constexpr std::int64_t kSlots = 8;  // of a large host
constexpr std::int64_t kMostDevices = 1 << 20;

[[noreturn]] void refuse(std::string message, std::string expected) {
  throw InputError(Problem{"input.bad_value", std::move(message), Place{"--count", 0, 0}, std::move(expected), {}, {}});
}

// Evenly over as few hosts as hold them.
RankGroup group_of(std::int64_t count, std::int64_t domain) {
  const std::int64_t hosts = (count + domain - 1) / domain;
  if (count % hosts == 0) return {count / hosts, hosts, 1};
  refuse(std::to_string(count) + " devices do not divide evenly over " + std::to_string(hosts) + " hosts of " +
             std::to_string(domain),
         "a multiple of " + std::to_string(domain) + ", or at most so many");
}

}  // namespace

TopologyPlan plan_topology(const Catalog& catalog, const TopologyRequest& request) {
  TopologyPlan plan;
  const Accelerator& accelerator = *request.accelerator;
  plan.node =
      request.node ? request.node : node_design(catalog, accelerator, request.count > 0 ? request.count : kSlots);
  if (plan.node) {
    const std::int64_t count = request.count > 0 ? request.count : plan.node->count.or_else(1);
    plan.fabric = fabric_of_node(catalog, *plan.node, count);
    // A design with a changed driver is one that somebody must ask for.
    if (!request.node && accelerator.peer_to_peer == PeerToPeer::no && plan.fabric.inside.shape == FabricShape::tree)
      plan.fabric.inside.crosses_host = true;
    if (plan.fabric.inside.rate <= BytesPerSecond{})
      plan.fabric.inside = fabric_of(catalog, accelerator, {}, {}, 2).inside;
  } else {
    plan.fabric = fabric_of(catalog, accelerator, {}, {}, std::clamp<std::int64_t>(request.count, 2, kSlots));
  }
  plan.fabric.oversubscription = request.oversubscription;
  plan.count = request.count > 0 ? request.count : plan.fabric.domain;
  if (plan.count > kMostDevices) refuse("too many devices", "at most " + std::to_string(kMostDevices));
  plan.group = group_of(plan.count, std::max<std::int64_t>(1, plan.fabric.domain));
  if (plan.group.inside > 1 && plan.fabric.inside.rate <= BytesPerSecond{})
    refuse("what joins several " + std::string(accelerator.name) + " is not in the catalogue",
           "1, or a --catalog file with a link");
  if (plan.group.hosts > 1 && plan.fabric.between.rate <= BytesPerSecond{}) {
    refuse("no network is known between hosts of " + std::string(accelerator.name),
           "at most " + std::to_string(plan.fabric.domain) + ", or --node with a design that has one");
  }
  return plan;
}

}  // namespace gpuplan
