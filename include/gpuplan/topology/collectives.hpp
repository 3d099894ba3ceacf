#pragma once
/// Times of collectives, α–β on the slowest link: docs/PHYSICS.md, "Communication".

#include <gpuplan/base/explain.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/topology/fabric.hpp>

#include <cstdint>

namespace gpuplan {

/// Latency of a small all-reduce over n devices: linear in log2(n) through the two measured points, at least the first.
Seconds all_reduce_latency(const FabricLevel& level, std::int64_t devices);

/// All-reduce of `size` bytes a device over `devices`: α(n) + 2(n−1)/n · S / (rate · efficiency). 0 for one device.
Seconds all_reduce_time(const FabricLevel& level, std::int64_t devices, Bytes size, Explain* why = nullptr);

/// Point-to-point of `size` bytes: half the 2-device all-reduce latency + S / (rate · efficiency).
Seconds point_to_point_time(const FabricLevel& level, Bytes size);

}  // namespace gpuplan
