#include <gpuplan/topology/fabric.hpp>

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace gpuplan {
namespace {

// A link that states no efficiency or latency is given the median of its category's links that do.
template <class Member>
double median_of(const Catalog& catalog, LinkCategory category, Member member, double nothing_known) {
  std::vector<double> values;
  for (const Link& link : catalog.links()) {
    if (link.category != category) continue;
    if (const auto value = member(link); value > 0) values.push_back(value);
  }
  if (values.empty()) return nothing_known;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double efficiency_of(const Link& link) { return std::min(link.all_reduce_efficiency.or_else(0), 1.0); }
double point_to_point_of(const Link& link) { return link.point_to_point_efficiency.or_else(0); }
double latency_2_of(const Link& link) { return link.all_reduce_latency_2.or_else({}).base(); }
double latency_8_of(const Link& link) { return link.all_reduce_latency_8.or_else({}).base(); }

double stated_or_median(const Catalog& catalog, const Link& link, double (*member)(const Link&), double nothing_known) {
  if (const double stated = member(link); stated > 0) return stated;
  return median_of(catalog, link.category, member, nothing_known);
}

FabricLevel level_of(const Catalog& catalog, const Link& link, BytesPerSecond rate) {
  FabricLevel level;
  level.link = link.name;
  level.rate = rate > BytesPerSecond{} ? rate : link.rate.or_else({});
  // A link kind nobody has measured is given its nominal rate; the categories in the catalogue all have measured members.
  level.point_to_point_efficiency = stated_or_median(catalog, link, point_to_point_of, 1);
  level.efficiency = stated_or_median(catalog, link, efficiency_of, level.point_to_point_efficiency);
  level.latency_2 = seconds(stated_or_median(catalog, link, latency_2_of, 0));
  level.latency_8 = std::max(level.latency_2, seconds(stated_or_median(catalog, link, latency_8_of, 0)));
  level.source = link.source;
  return level;
}

constexpr std::int64_t kMostBridgedCards =
    4;  // an optional bridge joins two cards or four; a wider domain has switches

// The smallest node design that holds so many of the accelerator and says over what they talk.
const NodeDesign* node_design(const Catalog& catalog, const Accelerator& accelerator, std::int64_t count) {
  const NodeDesign* best = nullptr;
  for (const NodeDesign& node : catalog.nodes()) {
    if (node.fabric_link.empty() || node.count.or_else(0) < count) continue;
    if (std::find(node.accelerators.begin(), node.accelerators.end(), accelerator.name) == node.accelerators.end())
      continue;
    if (!best || *node.count < *best->count) best = &node;
  }
  return best;
}

bool offers_bridge(std::string_view interconnect) {
  return interconnect.substr(0, 6) == "nvlink" || interconnect == "nvl";
}

// A network of that rate behaves as the fastest known kind that is not above it.
FabricLevel between_hosts(const Catalog& catalog, BytesPerSecond network, std::int64_t count) {
  const Link* best = nullptr;
  for (const Link& link : catalog.links()) {
    if (link.category != LinkCategory::scale_out || !link.rate.known() || link.rate.value > network) continue;
    if (!best || link.rate.value > best->rate.value) best = &link;
  }
  if (!best) return {};
  FabricLevel level = level_of(catalog, *best, network / static_cast<double>(std::max<std::int64_t>(count, 1)));
  return level;
}

}  // namespace

bool sits_in_a_slot(const Accelerator& accelerator) {
  static constexpr std::array<std::string_view, 4> kSlots = {"pcie", "nvl", "consumer", "cpu"};
  return accelerator.scale_up_domain.or_else(1) <= kMostBridgedCards &&
         std::find(kSlots.begin(), kSlots.end(), accelerator.form_factor) != kSlots.end();
}

Fabric fabric_of(const Catalog& catalog, const Accelerator& accelerator, std::string_view interconnect,
                 BytesPerSecond network, std::int64_t count) {
  Fabric fabric;
  const bool fixed = !sits_in_a_slot(accelerator);
  const NodeDesign* node = fixed && count > 1 ? node_design(catalog, accelerator, count) : nullptr;
  const Text scale_up_name = node ? node->fabric_link : accelerator.scale_up_link;
  const Link* scale_up = scale_up_name.empty() ? nullptr : catalog.find_link(scale_up_name);
  const Link* host = accelerator.host_link.empty() ? nullptr : catalog.find_link(accelerator.host_link);
  const std::int64_t domain = node ? node->scale_up_domain.or_else(1) : accelerator.scale_up_domain.or_else(1);
  const BytesPerSecond rate =
      node && node->intra_rate.known() ? *node->intra_rate : accelerator.scale_up_bandwidth.or_else({});
  const bool has_scale_up =
      scale_up && (fixed || offers_bridge(interconnect)) && (scale_up->rate.known() || rate > BytesPerSecond{});
  if (has_scale_up && (count <= domain || domain <= 1 || !host)) {
    fabric.inside = level_of(catalog, *scale_up, rate);
    fabric.domain = std::max(domain, count);
  } else if (host) {
    fabric.inside = level_of(catalog, *host, {});
    fabric.inside.crosses_host =
        accelerator.peer_to_peer == PeerToPeer::no || accelerator.peer_to_peer == PeerToPeer::bridge;
    fabric.domain = count;
  }
  fabric.between = between_hosts(catalog, network, count);
  return fabric;
}

std::string fabric_name(const Fabric& fabric, std::int64_t devices, std::int64_t hosts) {
  const auto name_of = [](const FabricLevel& level) {
    if (level.link.empty()) return std::string("unknown");
    return std::string(level.link) + (level.crosses_host ? " via host" : "");
  };
  if (hosts <= 1) return devices <= 1 ? "-" : name_of(fabric.inside);
  return (devices <= 1 ? "" : name_of(fabric.inside) + " + ") + name_of(fabric.between);
}

}  // namespace gpuplan
