#pragma once
/// What connects the accelerators of a deployment: inside the host and between hosts.
///
/// A device with a fixed scale-up link (SXM, OAM, TPU) uses it inside its domain, at the rate and over the domain of the node
/// design that holds so many of it where the catalogue has one. A card whose link is an optional bridge (PCIe,
/// NVL, consumer) has it only where the offer says so; else it talks over PCIe, through the host's memory when the driver
/// refuses peer-to-peer.

#include <gpuplan/base/units.hpp>
#include <gpuplan/catalog/catalog.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuplan {

/// What collectives of one algorithm reach over a level: CollectiveSpeed of the catalogue, complete. Latencies of a call and of
/// a step, and shares of the level's rate, of the two ways a message is sent.
struct LevelSpeed {
  Seconds launch;
  Seconds hop;
  double efficiency = 0;  ///< 0: it is not sent that way
  Seconds bulk_launch;
  Seconds bulk_hop;
  double bulk_efficiency = 1;
  double pair_efficiency = 0;  ///< in bulk between two devices; 0: as between more
  double copy_efficiency = 0;  ///< of the copy of a rank's own part; 0: it is not seen
  bool fitted = false;         ///< to measurements of this link; else from its stated efficiency or from its category
};

/// One level of a fabric. `rate` is per direction and device.
struct FabricLevel {
  std::string_view link;  ///< name in the catalogue
  BytesPerSecond rate;    ///< nominal
  double efficiency = 1;  ///< achieved bus bandwidth of a large all-reduce over `rate`
  double point_to_point_efficiency = 1;
  Seconds latency_2;          ///< of a small all-reduce over 2 devices
  Seconds latency_8;          ///< … over 8 devices
  bool crosses_host = false;  ///< no peer-to-peer: staged through the host's memory
  FabricShape shape = FabricShape::switched;
  std::int64_t links = 0;  ///< of one device; 0 when not known
  LevelSpeed ring;  ///< inside a host: all-reduce, all-gather, reduce-scatter and broadcast from neighbour to neighbour
  LevelSpeed exchange;   ///< inside a host: every rank with every other
  LevelSpeed network;    ///< between hosts, of any algorithm
  LevelSpeed in_switch;  ///< reduced by the switch, where `reduces`
  bool reduces = false;  ///< the switch reduces, and libraries use it
  SourceId source = 0;
};

struct Fabric {
  FabricLevel inside;
  std::int64_t domain = 1;  ///< devices that `inside` joins
  FabricLevel between;      ///< between hosts: a device's share of its host's network; rate 0 when nothing is known
  std::int64_t nics = 0;    ///< of a host; 0 when not known
  /// By how much the network above the hosts' first switches is thinner than what enters them; at least 1.
  double oversubscription = 1;
};

/// Whether the device is a card for a slot, which any host may hold several of and whose scale-up link is an option.
bool sits_in_a_slot(const Accelerator& accelerator);

/// @param interconnect  the offer's word (`pcie`, `nvlink`, `nvlink-bridge`, `nvswitch`, …) or empty
/// @param network       what leaves one instance, per direction; 0 when unknown
/// @param count         devices of one host
Fabric fabric_of(const Catalog& catalog, const Accelerator& accelerator, std::string_view interconnect,
                 BytesPerSecond network, std::int64_t count);

/// The fabric of a host with these links.
///
/// @param inside   what joins the `count` devices of a host; null when there is one
/// @param rate     of `inside`; 0: as the link says
/// @param between  what kind of network; null: taken from its rate
/// @param network  what leaves one host, per direction; 0 when unknown
Fabric fabric_of_links(const Catalog& catalog, const Link* inside, BytesPerSecond rate, std::int64_t count,
                       const Link* between, BytesPerSecond network);

/// The fabric of a node design of the catalogue with its NICs, as `devices` of its accelerators see it: more than a bridge joins talk
/// over PCIe. A scale-up domain may span several nodes.
Fabric fabric_of_node(const Catalog& catalog, const NodeDesign& node, std::int64_t devices);

/// What leaves a node, per direction: as stated, or its NICs together; 0 when neither is known.
BytesPerSecond network_of(const NodeDesign& node);

/// The smallest node design that holds `count` of the accelerator (the largest when none holds so many) and says over what they
/// talk; of equals one whose network is known. Null when there is none.
const NodeDesign* node_design(const Catalog& catalog, const Accelerator& accelerator, std::int64_t count);

/// The share of a level's rate that each of n devices has when all of them send to their neighbours, by its shape: of a mesh the
/// links that lead to one of the n, of a torus those along the axes that n devices span.
double ring_share(const FabricLevel& level, std::int64_t domain, std::int64_t n);
/// … when each sends to every other: where pairs are not linked, messages pass through others.
double exchange_share(const FabricLevel& level, std::int64_t domain, std::int64_t n);

/// How a fabric is called in a table: `nvlink4`, `pcie4-x16 via host`, `nvlink4 + ib-ndr`; `-` for a device alone.
/// @param devices  of one host
/// @param hosts    that one replica spans
std::string fabric_name(const Fabric& fabric, std::int64_t devices, std::int64_t hosts);

}  // namespace gpuplan
