#include "catch.hpp"

#include "serving_fixture.hpp"

#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/perf/pools.hpp>

#include <cmath>

using namespace gpuplan;
using namespace gpuplan::testing;

namespace {

const Engine& vllm() { return *built_in().find_engine("vllm"); }

}  // namespace

TEST_CASE("arrivals: a replica keeps rate times latency requests in flight", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-8b");
  const ServingJob job{&model, &vllm(), {4096, 1024, 256}};
  const ServingCandidate c = candidate("H100-SXM5-80GB", 1, 1);
  for (const double rate : {0.01, 1.0, 4.0}) {
    const auto in_flight = in_flight_at_rate(job, c, ceilings, rate);
    REQUIRE(in_flight);
    ServingCandidate loaded = c;
    loaded.concurrency = std::max(*in_flight, 1.0);
    ServingWork work = serving_work(job, loaded, ceilings);
    work.closed_loop = false;
    const EngineConstants constants = constants_of(vllm());
    const double e2e = join_phases(work, phase_seconds(work, constants), constants, nullptr).e2e(256);
    CHECK(*in_flight == Approx(rate * e2e).epsilon(0.01));  // Little's law
  }
  CHECK(in_flight_at_rate(job, c, ceilings, 0) == 0.0);
  CHECK_FALSE(in_flight_at_rate(job, c, ceilings, 1e6));
}

TEST_CASE("prefix cache: what lies in the cache is not computed again", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-8b");
  ServingJob job{&model, &vllm(), {16384, 8001, 16}};
  const ServingCandidate c = candidate("H100-SXM5-80GB", 1, 1);
  const auto rows = [&] {
    for (const OperatorWork& w : serving_work(job, c, ceilings).prompt.operators) {
      if (w.op.id == "mlp.gate_up") return w.op.rows;
    }
    return 0.0;
  };
  CHECK(rows() == Approx(8001));
  const Seconds whole = serving_time(job, c, ceilings, nullptr).ttft.value;
  job.prefix_hit = 0.75;  // of the 8,000 tokens before the last
  CHECK(rows() == Approx(2001));
  CHECK(serving_time(job, c, ceilings, nullptr).ttft.value < whole);
  job.prefix_hit = 1;  // the last token is computed always
  CHECK(rows() == Approx(1));
}

TEST_CASE("speculation: a step yields a geometric series of tokens", "[perf]") {
  // (1 - 0.8^5) / (1 - 0.8) = 3.3616: Leviathan et al., equation 1, with four guesses.
  CHECK(Speculation{4, 0.8, 0}.tokens_per_step() == Approx(3.3616));
  CHECK(Speculation{0, 0.8, 0}.tokens_per_step() == Approx(1));
  CHECK(Speculation{4, 0, 0}.tokens_per_step() == Approx(1));
  CHECK(Speculation{4, 1, 0}.tokens_per_step() == Approx(5));
}

TEST_CASE("speculation: one stream gains nearly the yield, less what guesses cost", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-70b");
  ServingJob job{&model, &vllm(), {4096, 1024, 256}};
  const ServingCandidate c = candidate("H100-SXM5-80GB", 4, 1);
  const ServingTime plain = serving_time(job, c, ceilings, nullptr);
  job.speculation = {4, 0.8, 0};
  const ServingTime fast = serving_time(job, c, ceilings, nullptr);
  const double gain = plain.tpot.value / fast.tpot.value;
  CHECK(gain > 2.5);
  CHECK(gain <= 3.3616);
  job.speculation.draft_share = 0.1;  // four guesses of a tenth of a step each
  const ServingTime drafted = serving_time(job, c, ceilings, nullptr);
  CHECK(drafted.tpot.value.base() == Approx(1.4 * fast.tpot.value.base()));
}

TEST_CASE("attention by sequences: ranks hold whole heads of fewer sequences, experts are exchanged", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("deepseek-v3");
  const ServingJob job{&model, &vllm(), {8192, 4096, 512}};
  ServingCandidate c = candidate("H200-SXM-141GB", 8, 256);
  const auto core_bytes = [&] {
    for (const OperatorWork& w : serving_work(job, c, ceilings).decode.operators) {
      if (w.op.id == "attention.core") return w.op.bytes.base();
    }
    return 0.0;
  };
  const double split = core_bytes();
  c.attention_replicas = 8;
  // Latents are whole on every rank: split by heads each rank reads those of all sequences, by sequences those of an eighth.
  CHECK(core_bytes() < 0.35 * split);
  CHECK(step_collectives(job, c, Phase::decode, 256, nullptr) > Seconds{});
}

TEST_CASE("pools: a decode step is undisturbed, the cache travels, and prompts bound the rate", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-70b");
  const ServingJob job{&model, &vllm(), {8192, 4096, 256}};
  const ServingCandidate four = candidate("H100-SXM5-80GB", 4, 1);
  Pools pools{four, four, 1, 1, gigabytes_per_second(50)};
  const PoolTimes one = pool_times(job, pools, 1, ceilings);
  const ServingTime alone = serving_time(job, four, ceilings, nullptr);
  CHECK(one.tpot.base() == Approx(alone.tpot.value.base()));
  // 327,680 bytes of cache a token (80 layers x 2 x 8 heads x 128 x 2 bytes), 4,096 tokens at 50 GB/s: 26.8 ms.
  const double way = 327680.0 * 4096 / 50e9;
  CHECK(one.ttft.base() == Approx(alone.ttft.value.base() + way + one.tpot.base()).epsilon(1e-9));
  const PoolTimes many = pool_times(job, pools, 256, ceilings);
  CHECK(many.prefill_busy == Approx(1));
  pools.prefill_replicas = 4;
  const PoolTimes wider = pool_times(job, pools, 256, ceilings);
  CHECK(wider.requests_per_second > 2 * many.requests_per_second);
  CHECK(wider.ttft < many.ttft);
}
