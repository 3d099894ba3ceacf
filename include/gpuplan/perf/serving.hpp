#pragma once
/// Prefill and decode of one replica: TTFT, TPOT and tokens/s, alone and under a number of requests at once.
///
/// A step is its operators (roofline), two all-reduces a layer over the tensor-parallel ranks, hops between pipeline stages
/// and the scheduler's own time. Under load with continuous batching a request waits for the prompts of the others:
///     TPOT = step(c) + (c − 1)/output · prefill share,   TTFT = prefill + TPOT/2 + queue,   X = c / E2E
/// and where the engine finishes prompts first, half of the others' prompts move from TPOT to TTFT
/// (docs/PHYSICS.md, "Serving"). TPOT = (E2E − TTFT) / (output − 1).

#include <gpuplan/base/breakdown.hpp>
#include <gpuplan/base/explain.hpp>
#include <gpuplan/deploy/deployment.hpp>
#include <gpuplan/perf/interval.hpp>
#include <gpuplan/perf/roofline.hpp>
#include <gpuplan/perf/workload.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace gpuplan {

/// Of an interval no time is below what the datasheet's rates allow (`floor_seconds`).
struct ServingTime {
  Interval<Seconds> ttft;
  Interval<Seconds> tpot;
  Interval<TokensPerSecond> prefill;  ///< prompt tokens of one request
  Interval<TokensPerSecond> decode;   ///< one stream: 1/TPOT
  Interval<TokensPerSecond> output;   ///< of the replica
  Interval<Seconds> step;             ///< one decode step of all sequences
  Interval<Seconds> e2e;
};

/// Which measured residuals an interval rests on (EngineInterval::regime): alone or with others in flight.
enum class Regime : std::uint8_t { prefill, decode, prefill_loaded, decode_loaded, throughput };
std::string_view to_string(Regime value);

/// Times every candidate at its own load: all operators over all candidates as one array expression a phase.
std::vector<ServingTime> serving_times(const ServingJob& job, std::span<const ServingCandidate> candidates,
                                       const Ceilings& ceilings);

/// The same for one candidate, operator by operator with plain doubles, recording each term.
ServingTime serving_time(const ServingJob& job, const ServingCandidate& candidate, const Ceilings& ceilings,
                         Explain* why);

/// What one decode or prefill step is made of, for reports: terms by operator, collectives, scheduler.
Breakdown<Seconds> step_breakdown(const ServingJob& job, const ServingCandidate& candidate, Phase phase,
                                  const Ceilings& ceilings);

}  // namespace gpuplan
