#include <gpuplan/perf/pools.hpp>

#include <gpuplan/model/kv_cache.hpp>

#include <algorithm>
#include <cmath>

namespace gpuplan {
namespace {

constexpr double kNoLimit = 256;  // sequences, where neither memory nor engine is known

JoinedSeconds joined_of(const ServingJob& job, const ServingCandidate& candidate, const Ceilings& ceilings,
                        bool closed_loop) {
  const EngineConstants constants = constants_of(*job.engine);
  ServingWork work = serving_work(job, candidate, ceilings);
  work.closed_loop = closed_loop;
  return join_phases(work, phase_seconds(work, constants), constants, nullptr);
}

double output_of(const ServingJob& job) { return std::max(static_cast<double>(job.request.output), 1.0); }

}  // namespace

std::optional<double> in_flight_at_rate(const ServingJob& job, ServingCandidate candidate, const Ceilings& ceilings,
                                        double rate) {
  const double most = candidate.most_running > 0 ? std::max(candidate.most_running, 1.0) : kNoLimit;
  candidate.most_running = 0;
  // Requests that the replica finishes a second with so many in flight, as far as they arrive by themselves.
  const auto finished = [&](double in_flight) {
    candidate.concurrency = in_flight;
    return in_flight / joined_of(job, candidate, ceilings, false).e2e(output_of(job));
  };
  if (!(rate > 0)) return 0;
  const double alone = finished(1);
  if (rate <= alone) return rate / alone;
  if (finished(most) < rate) return std::nullopt;
  double low = 1;
  double high = most;
  while (high / low > 1.001) {
    const double middle = std::sqrt(low * high);
    (finished(middle) < rate ? low : high) = middle;
  }
  return high;
}

PoolTimes pool_times(const ServingJob& job, const Pools& pools, double in_flight, const Ceilings& ceilings) {
  const double output = output_of(job);
  ServingCandidate decode = pools.decode;
  decode.concurrency = std::max(1.0, in_flight / pools.decode_replicas);
  decode.most_running = 0;
  const EngineConstants constants = constants_of(*job.engine);
  const ServingWork decoding = serving_work(job, decode, ceilings);
  const PhaseSeconds phases = phase_seconds(decoding, constants);
  ServingCandidate prefill = pools.prefill;
  prefill.concurrency = 1;
  const JoinedSeconds prompt = joined_of(job, prefill, ceilings, false);
  const double cached = static_cast<double>(job.request.input);
  const Bytes cache = cached * kv_bytes_per_token(job.model->architecture, job.model->kv->element);
  const double way = pools.transfer > BytesPerSecond{} ? (cache / pools.transfer).base() : 0;
  PoolTimes times;
  const double tpot = phases.decode * (1 + decoding.draft) / decoding.yield;
  // The pool of prompts is a queue of its own: what it cannot do in time waits there, and the rate falls to what it can.
  const double most = pools.prefill_replicas / prompt.prefill;
  const double alone = prompt.prefill + way + tpot + (output - 1) * tpot;
  const double asked = std::max(in_flight, 1.0) / alone;
  times.requests_per_second = std::min(asked, most);
  times.prefill_busy = times.requests_per_second / most;
  const double waiting = std::max(in_flight, 1.0) / times.requests_per_second - alone;
  times.ttft = seconds(prompt.prefill + way + tpot + std::max(waiting, 0.0));
  times.tpot = seconds(tpot);
  return times;
}

}  // namespace gpuplan
