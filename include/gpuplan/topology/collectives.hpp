#pragma once
/// Times of collectives on a fabric: docs/PHYSICS.md, "Communication".
///
///     const CollectiveTime t = collective_time(fabric, Collective::all_reduce, {8, 2}, megabytes(64));
///     t.algorithm;                                                    // `hierarchical ring`
///     bus_bandwidth(Collective::all_reduce, 16, megabytes(64), t.time);
///
/// Every algorithm that the fabric can run is timed and the cheapest is taken, as communication libraries do.

#include <gpuplan/base/explain.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/topology/fabric.hpp>

#include <cstdint>
#include <string_view>

namespace gpuplan {

enum class Collective : std::uint8_t { all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, point_to_point };
std::string_view to_string(Collective value);
Parsed<Collective> parse_collective(std::string_view text);

/// Ranks of one group: `inside` of them in each host (or scale-up domain), over `hosts` hosts.
struct RankGroup {
  std::int64_t inside = 1;
  std::int64_t hosts = 1;
  /// Groups of the same kind that use the host's NICs at once: each gets at most 1/sharing of the host's network, and never
  /// more than its ranks bring.
  double sharing = 1;
  [[nodiscard]] std::int64_t ranks() const { return inside * hosts; }
};

struct CollectiveTime {
  Seconds time;
  std::string_view algorithm;  ///< `ring`, `one-shot`, `hierarchical tree`, …; empty for one rank
};

/// Whose kernels: a communication library's (NCCL, RCCL), or also an inference engine's own all-reduces, which read the
/// peers' buffers in one kernel: `one-shot` and `two-shot`. Those need peer-to-peer access and stay in the host.
enum class Kernels : std::uint8_t { library, engine };

/// Time of one collective, the cheapest algorithm; 0 for one rank, else above 0, finite, and never less for more bytes.
///
/// @param size  as NCCL counts it: the whole buffer of one rank (all-reduce, broadcast, point-to-point), the whole gathered
///              buffer (all-gather, reduce-scatter), everything that one rank sends (all-to-all)
/// A network of which nothing is known is taken to be the link inside; one of the two must have a rate.
CollectiveTime collective_time(const Fabric& fabric, Collective kind, const RankGroup& group, Bytes size,
                               Explain* why = nullptr, Kernels kernels = Kernels::library);

/// Bus bandwidth by NCCL's definition: size / time times 2(n−1)/n for an all-reduce, (n−1)/n for all-gather,
/// reduce-scatter and all-to-all, 1 for broadcast and point-to-point; comparable with the rate of one link. 0 for one rank.
/// Source: nccl-tests, doc/PERFORMANCE.md.
BytesPerSecond bus_bandwidth(Collective kind, std::int64_t ranks, Bytes size, Seconds time);

/// Latency of a small all-reduce over n devices: linear in log2(n) through the two measured points, at least the first.
Seconds all_reduce_latency(const FabricLevel& level, std::int64_t devices);

/// All-reduce of `size` bytes a device over `devices`: α(n) + 2(n−1)/n · S / (rate · efficiency). 0 for one device.
Seconds all_reduce_time(const FabricLevel& level, std::int64_t devices, Bytes size, Explain* why = nullptr);

/// Point-to-point of `size` bytes: half the 2-device all-reduce latency + S / (rate · efficiency).
Seconds point_to_point_time(const FabricLevel& level, Bytes size);

}  // namespace gpuplan
