#include <gpuplan/topology/fabric.hpp>

#include "level.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace gpuplan {
namespace {

constexpr std::int64_t kMostBridgedCards =
    4;  // an optional bridge joins two cards or four; a wider domain has switches

bool offers_bridge(std::string_view interconnect) {
  return interconnect.substr(0, 6) == "nvlink" || interconnect == "nvl";
}

// A network of that rate behaves as the fastest known kind that is not above it.
const Link* network_kind(const Catalog& catalog, BytesPerSecond network) {
  const Link* best = nullptr;
  for (const Link& link : catalog.links()) {
    if (link.category != LinkCategory::scale_out || !link.rate.known() || link.rate.value > network) continue;
    if (!best || link.rate.value > best->rate.value) best = &link;
  }
  return best;
}

FabricLevel between_hosts(const Catalog& catalog, const Link* kind, BytesPerSecond network, std::int64_t count) {
  if (network <= BytesPerSecond{}) return {};
  if (!kind) kind = network_kind(catalog, network);
  if (!kind) return {};
  return level_of(catalog, *kind, network / static_cast<double>(std::max<std::int64_t>(count, 1)));
}

bool holds(const NodeDesign& node, const Accelerator& accelerator) {
  return std::find(node.accelerators.begin(), node.accelerators.end(), accelerator.name) != node.accelerators.end();
}

}  // namespace

bool sits_in_a_slot(const Accelerator& accelerator) {
  static constexpr std::array<std::string_view, 4> kSlots = {"pcie", "nvl", "consumer", "cpu"};
  return accelerator.scale_up_domain.or_else(1) <= kMostBridgedCards &&
         std::find(kSlots.begin(), kSlots.end(), accelerator.form_factor) != kSlots.end();
}

BytesPerSecond network_of(const NodeDesign& node) {
  if (node.node_rate.known()) return *node.node_rate;
  return static_cast<double>(node.nics.or_else(0)) * node.nic_rate.or_else({});
}

const NodeDesign* node_design(const Catalog& catalog, const Accelerator& accelerator, std::int64_t count) {
  const auto better = [&](const NodeDesign& a, const NodeDesign& b) {
    const std::int64_t held_a = a.count.or_else(0);
    const std::int64_t held_b = b.count.or_else(0);
    if ((held_a >= count) != (held_b >= count)) return held_a >= count;
    if (held_a != held_b) return held_a >= count ? held_a < held_b : held_a > held_b;
    return network_of(a) > BytesPerSecond{} && network_of(b) <= BytesPerSecond{};
  };
  const NodeDesign* best = nullptr;
  for (const NodeDesign& node : catalog.nodes()) {
    if (node.fabric_link.empty() || !holds(node, accelerator)) continue;
    if (!best || better(node, *best)) best = &node;
  }
  return best;
}

Fabric fabric_of_links(const Catalog& catalog, const Link* inside, BytesPerSecond rate, std::int64_t count,
                       const Link* between, BytesPerSecond network) {
  Fabric fabric;
  if (inside) fabric.inside = level_of(catalog, *inside, rate);
  fabric.domain = std::max<std::int64_t>(1, count);
  fabric.between = between_hosts(catalog, between, network, count);
  return fabric;
}

Fabric fabric_of_node(const Catalog& catalog, const NodeDesign& node, std::int64_t devices) {
  const Link* inside = node.fabric_link.empty() ? nullptr : catalog.find_link(node.fabric_link);
  const Accelerator* card = node.accelerators.empty() ? nullptr : catalog.find_accelerator(node.accelerators.front());
  BytesPerSecond rate = node.intra_rate.or_else({});
  const std::int64_t bridged = node.scale_up_domain.or_else(1);
  if (inside && inside->shape == FabricShape::bridge && devices > bridged && card && !card->host_link.empty()) {
    inside = catalog.find_link(card->host_link);
    rate = {};
  }
  const Link* between = node.nic_link.empty() ? nullptr : catalog.find_link(node.nic_link);
  const std::int64_t count = node.count.or_else(1);
  Fabric fabric = fabric_of_links(catalog, inside, rate, count, between, network_of(node));
  if (node.shape != FabricShape::unknown) fabric.inside.shape = node.shape;
  const bool over_pcie = fabric.inside.shape == FabricShape::tree;
  fabric.inside.crosses_host =
      node.peer_to_peer == PeerToPeer::no || (over_pcie && card && card->peer_to_peer == PeerToPeer::bridge);
  fabric.domain = std::max(count, bridged);
  if (fabric.inside.shape == FabricShape::bridge) fabric.domain = bridged;
  fabric.nics = node.nics.or_else(0);
  return fabric;
}

Fabric fabric_of(const Catalog& catalog, const Accelerator& accelerator, std::string_view interconnect,
                 BytesPerSecond network, std::int64_t count) {
  Fabric fabric;
  const bool fixed = !sits_in_a_slot(accelerator);
  const NodeDesign* node = fixed && count > 1 ? node_design(catalog, accelerator, count) : nullptr;
  if (node && node->count.or_else(0) < count) node = nullptr;
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
    if (node && node->shape != FabricShape::unknown) fabric.inside.shape = node->shape;
    fabric.domain = std::max(domain, count);
  } else if (host) {
    fabric.inside = level_of(catalog, *host, {});
    fabric.inside.crosses_host =
        accelerator.peer_to_peer == PeerToPeer::no || accelerator.peer_to_peer == PeerToPeer::bridge;
    fabric.domain = count;
  }
  fabric.between = between_hosts(catalog, nullptr, network, count);
  return fabric;
}

double ring_share(const FabricLevel& level, std::int64_t domain, std::int64_t n) {
  const auto as_double = [](std::int64_t v) { return static_cast<double>(v); };
  if (n >= domain || n <= 1) return 1;
  switch (level.shape) {
    case FabricShape::full_mesh:
      return (as_double(n) - 1) / (as_double(domain) - 1);
    case FabricShape::cube_mesh:  // two links to each of two neighbours, one to two others: a pair has two, a quad four
      return level.links > 4 ? (n <= 2 ? 2.0 : n <= 4 ? 4.0 : as_double(level.links)) / as_double(level.links) : 1;
    case FabricShape::torus:  // two links an axis; only the whole domain closes its axes to rings
      return level.links > 0 && n == 2 ? 1 / as_double(level.links) : 0.5;
    default:
      return 1;
  }
}

double exchange_share(const FabricLevel& level, std::int64_t domain, std::int64_t n) {
  const auto as_double = [](std::int64_t v) { return static_cast<double>(v); };
  const double share = ring_share(level, domain, n);
  if (level.shape == FabricShape::cube_mesh && n > 4)
    return share / (10.0 / 7);  // four peers are one link away, three two
  if (level.shape == FabricShape::torus && level.links > 1) {
    // On an axis of s devices a message passes s/4 links where the axis is closed, s/3 where it is not.
    const double axes = as_double(level.links) / 2;
    const double side = std::pow(as_double(n), 1 / axes);
    return share / std::max(1.0, axes * side / (n >= domain ? 4 : 3));
  }
  return share;
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
