#pragma once
/// Requests that arrive at random and find all sequences of a replica busy: how many wait, and how long.
///
///     mean_wait(16, 12, seconds(4))   // 16 sequences at once, 12 busy in the mean, 4 s a request
///
/// Erlang's model M/M/c: c sequences run at once, `offered` of them are busy in the mean (arrivals a second times the time of a request), and
/// a request that finds none free waits in order. Source: Erlang, "Løsning af nogle Problemer fra Sandsynlighedsregningen af Betydning for de
/// automatiske Telefoncentraler", 1917; docs/PHYSICS.md, "Load".

#include <gpuplan/base/units.hpp>

#include <cstdint>

namespace gpuplan {

/// The share of requests that wait; 1 where `offered` is not below `servers`: then the queue grows without end.
double waiting_share(std::int64_t servers, double offered);

/// Mean time before a request starts, over all requests. `offered` must be below `servers`.
Seconds mean_wait(std::int64_t servers, double offered, Seconds service);

}  // namespace gpuplan
