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

/// One level of a fabric. `rate` is per direction and device.
struct FabricLevel {
  std::string_view link;  ///< name in the catalogue
  BytesPerSecond rate;    ///< nominal
  double efficiency = 1;  ///< achieved bus bandwidth of a large all-reduce over `rate`
  double point_to_point_efficiency = 1;
  Seconds latency_2;          ///< of a small all-reduce over 2 devices
  Seconds latency_8;          ///< … over 8 devices
  bool crosses_host = false;  ///< no peer-to-peer: staged through the host's memory
  SourceId source = 0;
};

struct Fabric {
  FabricLevel inside;
  std::int64_t domain = 1;  ///< devices that `inside` joins
  FabricLevel between;      ///< between hosts; rate 0 when nothing is known
};

/// Whether the device is a card for a slot, which any host may hold several of and whose scale-up link is an option.
bool sits_in_a_slot(const Accelerator& accelerator);

/// @param interconnect  the offer's word (`pcie`, `nvlink`, `nvlink-bridge`, `nvswitch`, …) or empty
/// @param network       what leaves one instance, per direction; 0 when unknown
/// @param count         devices of one host
Fabric fabric_of(const Catalog& catalog, const Accelerator& accelerator, std::string_view interconnect,
                 BytesPerSecond network, std::int64_t count);

/// How a fabric is called in a table: `nvlink4`, `pcie4-x16 via host`, `nvlink4 + ib-ndr`; `-` for a device alone.
/// @param devices  of one host
/// @param hosts    that one replica spans
std::string fabric_name(const Fabric& fabric, std::int64_t devices, std::int64_t hosts);

}  // namespace gpuplan
