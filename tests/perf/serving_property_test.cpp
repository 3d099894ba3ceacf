#include "catch.hpp"

#include "serving_fixture.hpp"

#include <gpuplan/perf/cpu_slice.hpp>
#include <gpuplan/perf/pools.hpp>

#include <cmath>
#include <random>

using namespace gpuplan;
using namespace gpuplan::testing;

namespace {

using Random = std::mt19937_64;

double between(Random& random, double low, double high) {  // evenly on a logarithmic scale
  return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
}
template <class List>
const auto& any_of(Random& random, const List& list) {
  return list[std::uniform_int_distribution<std::size_t>(0, list.size() - 1)(random)];
}
bool chance(Random& random, double share) { return std::bernoulli_distribution(share)(random); }

bool sound(double value) { return std::isfinite(value) && value > 0; }
template <class Q>
bool sound(const Interval<Q>& i) {
  return sound(i.low.base()) && sound(i.value.base()) && sound(i.high.base()) && i.low <= i.value && i.value <= i.high;
}

}  // namespace

TEST_CASE("serving: no finite job gives a time that is NaN, infinite, zero or negative", "[perf]") {
  const Ceilings ceilings(built_in());
  std::vector<ServedModel> models;
  for (const auto& [name, scheme] : {std::pair{"llama-3.1-8b", "bf16"}, std::pair{"llama-3.1-70b", "int4-awq-g128"},
                                     std::pair{"deepseek-v3", "fp8-block"}, std::pair{"gpt-oss-120b", "mxfp4"},
                                     std::pair{"gemma-2b", "gguf:Q4_K_M"}, std::pair{"qwen3-30b-a3b", "int8-wo"}})
    models.push_back(served(name, scheme));
  Random random(20261130);
  for (int i = 0; i < 3000; ++i) {
    ServingJob job;
    job.model = &any_of(random, models);
    job.engine = &any_of(random, built_in().engines());
    job.request.input = chance(random, 0.1) ? 0 : static_cast<std::int64_t>(between(random, 1, 1e7));
    job.request.output = chance(random, 0.1) ? 0 : static_cast<std::int64_t>(between(random, 1, 1e7));
    job.request.context = job.request.input + job.request.output;
    job.prefix_hit = std::uniform_real_distribution<double>(-0.5, 1.5)(random);
    if (chance(random, 0.3))
      job.speculation = {between(random, 0.1, 64), between(random, 1e-3, 2), between(random, 1e-6, 1)};
    const Accelerator& gpu = any_of(random, built_in().accelerators());
    const Accelerator slice = is_cpu(gpu) ? slice_of({&gpu, between(random, 1, 1024), 2}) : gpu;
    if (!slice.memory_bandwidth.known() && !slice.stream_bandwidth.known()) continue;
    const bool joined = candidate(gpu, 2, 1).fabric.inside.rate > BytesPerSecond{};
    ServingCandidate c =
        candidate(gpu, joined ? 1 << std::uniform_int_distribution<int>(0, 5)(random) : 1, between(random, 1e-3, 1e6));
    c.accelerator = &slice;
    c.layout.pp = joined && chance(random, 0.3) ? 4 : 1;
    c.most_running = chance(random, 0.5) ? between(random, 1e-3, 1e6) : 0;
    c.attention_replicas = chance(random, 0.2) ? c.layout.tp : 1;
    const ServingTime t = serving_time(job, c, ceilings, nullptr);
    CAPTURE(i, gpu.name, job.engine->name, job.request.input, job.request.output, c.concurrency, c.layout.tp);
    CHECK((sound(t.ttft) && sound(t.tpot) && sound(t.prefill) && sound(t.decode) && sound(t.output) && sound(t.step) &&
           sound(t.e2e)));
    const Pools pools{c, c, between(random, 1, 100), between(random, 1, 100),
                      gigabytes_per_second(between(random, 1e-3, 1e3))};
    const PoolTimes p = pool_times(job, pools, between(random, 1e-3, 1e5), ceilings);
    CHECK((sound(p.ttft.base()) && sound(p.tpot.base()) && sound(p.requests_per_second) && sound(p.prefill_busy)));
  }
}
