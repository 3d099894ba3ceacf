#pragma once
/// The algorithms of collectives, as what they do: steps, and bytes that pass each level of the fabric. Time is a formula over
/// these and the level's speeds; the fit of those speeds uses the same terms. docs/PHYSICS.md, "Communication".

#include <gpuplan/topology/collectives.hpp>
#include <gpuplan/topology/fabric.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace gpuplan {

/// Which of a level's speeds an algorithm runs at.
enum class SpeedKind : std::uint8_t { ring, exchange, in_switch };

/// One algorithm for one group. Factors multiply the collective's size.
struct AlgorithmTerms {
  std::string_view name;
  SpeedKind inside = SpeedKind::ring;
  double steps = 0;         ///< inside the host, one after the other
  double sent = 0;          ///< by a rank, inside the host
  double copied = 0;        ///< by a rank, of its own part
  double share = 1;         ///< of the level's rate that the group has
  double hops = 0;          ///< between hosts, one after the other
  double leaving = 0;       ///< a host, through its NICs
  bool in_network = false;  ///< reduced by the network's switches
  bool pair = false;        ///< between two devices
  BytesPerSecond network;   ///< of a host, that the group has
};

/// What a library or an engine can run for a group.
struct Algorithms {
  std::array<AlgorithmTerms, 6> list;
  std::size_t count = 0;
  void add(const AlgorithmTerms& terms) { list[count++] = terms; }
};
Algorithms algorithms_of(const Fabric& fabric, Collective kind, const RankGroup& group, Kernels kernels);

const LevelSpeed& speed_inside(const FabricLevel& level, SpeedKind kind);
const LevelSpeed& speed_between(const FabricLevel& level, const AlgorithmTerms& terms);

/// Bytes that leave one rank over the bytes of the collective, when none is sent twice: the factor of the bus bandwidth.
double bus_factor(Collective kind, double ranks);

/// @param bulk  through buffers; else with a flag in every word. Infinite where the algorithm is not sent that way.
Seconds algorithm_time(const Fabric& fabric, const AlgorithmTerms& terms, Bytes size, bool bulk);

}  // namespace gpuplan
