#pragma once
/// What joins so many of an accelerator: the node design that usually holds them, or the one asked for.

#include <gpuplan/topology/collectives.hpp>
#include <gpuplan/topology/fabric.hpp>

#include <cstdint>

namespace gpuplan {

struct TopologyRequest {
  const Accelerator* accelerator = nullptr;
  const NodeDesign* node = nullptr;  ///< null: the smallest that holds `count`, else the largest
  std::int64_t count = 0;            ///< 0: one host of the design
  double oversubscription = 1;
};

struct TopologyPlan {
  const NodeDesign* node = nullptr;  ///< null: none of the catalogue; cards in the slots of some host
  Fabric fabric;
  std::int64_t count = 0;
  RankGroup group;  ///< all devices, evenly over the hosts or scale-up domains
};

/// Throws InputError when the devices do not divide evenly over hosts, or when nothing is known of what joins them.
TopologyPlan plan_topology(const Catalog& catalog, const TopologyRequest& request);

}  // namespace gpuplan
