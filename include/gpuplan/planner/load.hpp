#pragma once
/// What a replica carries of the load, what bounds it, and how many replicas the whole load needs.
///
///     option.carried.limit.bound        // LoadBound::tpot: more would miss the target of TPOT
///     option.carried.replicas_needed    // without the spare one
///
/// Source: docs/PHYSICS.md, "Load".

#include <gpuplan/base/units.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuplan {

/// What keeps a replica from carrying more: memory, the engine's limit of sequences, a target.
enum class LoadBound : std::uint8_t { memory, engine, ttft, tpot, e2e };
std::string_view to_string(LoadBound value);

/// Requests of one replica, means. A request in flight runs or waits for its turn.
struct ReplicaLoad {
  double running = 0;
  double in_flight = 0;
  double requests_per_second = 0;
  double active_users = 0;  ///< who ask, read and ask again; 0: the load is not of users
  Seconds wait;             ///< before a request runs
};

/// The target that an option is nearest to missing.
struct NearestTarget {
  LoadBound target = LoadBound::ttft;
  Seconds limit;
  Seconds value;
  bool holds_at_high_end = false;  ///< also at the high end of the 80 % interval, and so do the others
  [[nodiscard]] double margin() const { return 1 - value / limit; }  ///< share of the limit that is left
};

struct CarriedLoad {
  std::int64_t replicas_needed = 1;  ///< without the spare one
  std::int64_t spare = 0;            ///< replicas that may fail
  ReplicaLoad at;                    ///< of each replica that works, at the load shown
  ReplicaLoad limit;                 ///< the most that it carries
  LoadBound bound = LoadBound::memory;
  std::optional<NearestTarget> slo;  ///< empty: no targets
};

}  // namespace gpuplan
