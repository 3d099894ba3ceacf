#pragma once
/// Serving that is not a closed loop on one kind of replica: arrivals at a rate, and pools that divide prefill from decode.
///
///     const double running = in_flight_at_rate(job, candidate, ceilings, 2.5);   // requests a second on the replica
///
/// docs/PHYSICS.md, "Serving".

#include <gpuplan/perf/serving.hpp>

#include <optional>

namespace gpuplan {

/// Requests in flight on a replica that takes `rate` requests a second, by Little's law over the time of a request at that load: rate ·
/// E2E(n) = n. At least what one request alone keeps busy. Empty when the replica cannot keep up at `candidate.most_running`
/// (256 where no limit is known).
std::optional<double> in_flight_at_rate(const ServingJob& job, ServingCandidate candidate, const Ceilings& ceilings,
                                        double rate);

/// Prompts are computed in one pool, tokens in another, and the cache travels between (Zhong et al.: DistServe, OSDI 2024).
struct Pools {
  ServingCandidate prefill;
  ServingCandidate decode;
  double prefill_replicas = 1;
  double decode_replicas = 1;
  BytesPerSecond transfer;  ///< of a prefill replica's way out; 0: the caches lie in shared memory
};

struct PoolTimes {
  Seconds ttft;                    ///< prompt, with what is before it at this load, its cache's way, one decode step
  Seconds tpot;                    ///< a decode step of the pool's share of the requests: no prompt disturbs it
  double requests_per_second = 0;  ///< of all pools at this load
  double prefill_busy = 0;         ///< share of the time that the prefill pool works
};

/// @param in_flight  requests in all pools together, at least 1
PoolTimes pool_times(const ServingJob& job, const Pools& pools, double in_flight, const Ceilings& ceilings);

}  // namespace gpuplan
