#include "catch.hpp"

#include "serving_fixture.hpp"

#include <gpuplan/base/expression.hpp>
#include <gpuplan/topology/collectives.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace gpuplan;
using gpuplan::testing::built_in;
using gpuplan::testing::candidate;
using gpuplan::testing::served;

namespace {

const Engine& engine(std::string_view name = "vllm") {
  const Engine* found = built_in().find_engine(name);
  REQUIRE(found != nullptr);
  return *found;
}

std::vector<double> numbers(const ServingTime& t) {
  std::vector<double> all;
  const auto add = [&](const auto& interval) {
    for (const auto value : {interval.low, interval.value, interval.high}) all.push_back(value.base());
  };
  add(t.ttft);
  add(t.tpot);
  add(t.prefill);
  add(t.decode);
  add(t.output);
  add(t.step);
  add(t.e2e);
  return all;
}

// An engine that reaches everything and costs nothing: the bare roofline.
Engine ideal() {
  Engine e;
  e.name = "ideal";
  return e;
}

}  // namespace

TEST_CASE("serving: the array and the plain path agree on every accelerator", "[perf]") {
  const Ceilings ceilings(built_in());
  for (const auto& [name, scheme] : {std::pair{"llama-3.1-8b", "bf16"}, std::pair{"mixtral-8x7b", "int4-awq-g128"},
                                     std::pair{"deepseek-r1", "fp8-block"}}) {
    const ServedModel model = served(name, scheme);
    for (const Engine& e : built_in().engines()) {
      const ServingJob job{&model, &e, {4096, 1024, 256}};
      std::vector<ServingCandidate> candidates;
      for (const Accelerator& gpu : built_in().accelerators()) {
        const bool joined = candidate(gpu, 2, 1).fabric.inside.rate > BytesPerSecond{};
        for (const double load : {1.0, 7.0, 200.0}) candidates.push_back(candidate(gpu, joined ? 2 : 1, load));
      }
      const auto times = serving_times(job, candidates, ceilings);
      REQUIRE(times.size() == candidates.size());
      double worst = 0;
      bool all_positive = true;
      for (std::size_t i = 0; i < times.size(); ++i) {
        const auto fast = numbers(times[i]);
        const auto slow = numbers(serving_time(job, candidates[i], ceilings, nullptr));
        for (std::size_t k = 0; k < fast.size(); ++k) {
          worst = std::max(worst, std::abs(fast[k] / slow[k] - 1));
          all_positive = all_positive && std::isfinite(fast[k]) && fast[k] > 0;
        }
      }
      CAPTURE(name, e.name);
      CHECK(worst <= 1e-12);
      CHECK(all_positive);
    }
  }
}

TEST_CASE("serving: recording changes no bit", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-70b");
  const ServingJob job{&model, &engine(), {4096, 1024, 256}};
  Explain why;
  CHECK(numbers(serving_time(job, candidate("H100-SXM5-80GB", 4, 32), ceilings, &why)) ==
        numbers(serving_time(job, candidate("H100-SXM5-80GB", 4, 32), ceilings, nullptr)));
  CHECK_FALSE(why.terms().empty());
}

TEST_CASE("serving: every recorded formula gives its value", "[perf]") {
  const Ceilings ceilings(built_in());
  for (const double load : {1.0, 32.0}) {
    for (const double most : {0.0, 8.0}) {
      for (const char* name : {"llama-3.1-70b", "deepseek-r1"}) {
        const ServedModel model = served(name);
        const ServingJob job{&model, &engine(most > 0 ? "sglang" : "vllm"), {4096, 1024, 256}};
        ServingCandidate c = candidate("H100-SXM5-80GB", 4, load);
        c.layout.pp = 2;
        c.most_running = most;
        Explain why;
        const ServingTime time = serving_time(job, c, ceilings, &why);
        bool says_ttft = false;
        for (const ExplainedTerm& term : why.terms()) {
          CAPTURE(term.id, term.formula, load, name);
          const auto input = [&](std::string_view wanted) -> std::optional<ExpressionValue> {
            for (const ExplainInput& in : term.inputs) {
              if (in.name == wanted) return in.value;
            }
            return std::nullopt;
          };
          CHECK(evaluate_number(term.formula, input, "formula") == Approx(term.value).epsilon(1e-12));
          if (term.id == "time.ttft") {
            says_ttft = true;
            CHECK(term.value == time.ttft.value.base());
          }
        }
        CHECK(says_ttft);
      }
    }
  }
}

TEST_CASE("serving: a decode step takes at least the time of its weights", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-70b");
  const ServingJob job{&model, &engine(), {4096, 1024, 256}};
  const Bytes embedding = 128256.0 * 8192 * bytes(2);  // a look-up reads a row of it
  for (const char* gpu : {"H100-SXM5-80GB", "A100-SXM4-80GB", "MI300X", "RTX-A6000"}) {
    CAPTURE(gpu);
    const ServingCandidate c = candidate(gpu, 4, 1);
    const Seconds least =
        (weights_bytes(model.tensors, model.scheme) - embedding) / 4 / ceilings.bandwidth(*c.accelerator);
    CHECK(serving_time(job, c, ceilings, nullptr).step.value >= least);
  }
}

TEST_CASE("serving: a bare roofline decodes at bandwidth over bytes", "[perf]") {
  // Llama 3.1 8B in bf16, one sequence, 1024 + 256/2 positions and the new one: 8,030,261,248 parameters less the input embedding of
  // 128256 x 4096, 131072 bytes of cache a position; activations add under 1 %.
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-8b");
  const Engine e = ideal();
  const ServingJob job{&model, &e, {4096, 1024, 256}};
  const ServingCandidate c = candidate("H100-SXM5-80GB", 1, 1);
  const double moved = 2 * (8030261248.0 - 128256.0 * 4096) + 131072.0 * (1024 + 128 + 1);
  const double step = serving_time(job, c, ceilings, nullptr).step.value.base();
  CHECK(step == Approx(moved / 2970e9).epsilon(0.01));
  CHECK(step >= moved / 2970e9);
}

TEST_CASE("serving: a bare roofline prefills at FLOPs over the ceiling", "[perf]") {
  // 2 FLOPs a parameter and token, without the embeddings, the head once; causal attention 2 s² heads · head size a layer.
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-8b");
  const Engine e = ideal();
  const ServingJob job{&model, &e, {9000, 8192, 1}};
  const double tokens = 8192;
  const double linear = 2 * tokens * (8030261248.0 - 2 * 128256.0 * 4096) + 2 * 128256.0 * 4096;
  const double attention = 32 * 2 * tokens * tokens * 32 * 128;
  const double least = (linear + attention) / 794.5e12;  // what H100 reaches, by the ceilings' tests
  const double got = serving_time(job, candidate("H100-SXM5-80GB", 1, 1), ceilings, nullptr).ttft.value.base();
  CHECK(got >= least);
  CHECK(got <= 1.15 * least);  // norms, rotary and activation functions move bytes
}

TEST_CASE("serving: a host that launches slowly holds up short prompts, and neither long ones nor captured steps",
          "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-8b");
  const ServingCandidate c = candidate("H100-SXM5-80GB", 1, 1);
  const auto work_of = [&](std::int64_t input) {
    const Engine e = ideal();
    return serving_work({&model, &e, {16384, input, 256}}, c, ceilings);
  };
  EngineConstants slow;
  slow.host_launch = 100e-6;
  // 32 layers of ten operators and the ends, 100 us each: some 32 ms, where a prompt of 64 tokens takes as long as its weights, 5 ms.
  const ServingWork brief = work_of(64);
  CHECK(brief.prompt.launched > 300);
  CHECK(step_seconds(brief.prompt, slow) == Approx(brief.prompt.launched * 100e-6).epsilon(0.01));
  const ServingWork lengthy = work_of(16000);
  CHECK(step_seconds(lengthy.prompt, slow) < 1.01 * step_seconds(lengthy.prompt, EngineConstants{}));
  CHECK(step_seconds(brief.decode, slow) == step_seconds(brief.decode, EngineConstants{}));
  CHECK(work_of(64).decode.launched == 0);
}

TEST_CASE("serving: a device of twice the bandwidth is never slower", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("qwen3-30b-a3b");
  for (const Accelerator& gpu : built_in().accelerators()) {
    Accelerator faster = gpu;
    faster.memory_bandwidth.value = 2 * faster.memory_bandwidth.value;
    faster.stream_bandwidth.value = 2 * faster.stream_bandwidth.value;
    for (const double load : {1.0, 16.0, 128.0}) {
      CAPTURE(gpu.name, load);
      const ServingJob job{&model, &engine(), {4096, 1024, 256}};
      const ServingTime before = serving_time(job, candidate(gpu, 1, load), ceilings, nullptr);
      const ServingTime after = serving_time(job, candidate(faster, 1, load), ceilings, nullptr);
      CHECK(after.ttft.value <= before.ttft.value);
      CHECK(after.tpot.value <= before.tpot.value);
      CHECK(after.output.value >= before.output.value);
    }
  }
}

TEST_CASE("serving: latencies do not fall when more requests run", "[perf]") {
  const Ceilings ceilings(built_in());
  for (const char* name : {"llama-3.1-8b", "qwen3-30b-a3b"}) {
    const ServedModel model = served(name);
    for (const std::int64_t input : {64, 1024, 8192}) {
      const ServingJob job{&model, &engine(), {16384, input, 256}};
      ServingTime last = serving_time(job, candidate("H100-SXM5-80GB", 1, 1), ceilings, nullptr);
      for (double load = 2; load <= 256; load += 1) {
        const ServingTime now = serving_time(job, candidate("H100-SXM5-80GB", 1, load), ceilings, nullptr);
        CAPTURE(name, input, load);
        CHECK(now.ttft.value >= last.ttft.value);
        CHECK(now.tpot.value >= last.tpot.value);
        last = now;
      }
    }
  }
}

TEST_CASE("serving: requests beyond what runs at once wait and change nothing for those that run", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-8b");
  const ServingJob job{&model, &engine(), {4096, 1024, 256}};
  ServingCandidate all = candidate("H100-SXM5-80GB", 1, 16);
  ServingCandidate more = all;
  more.concurrency = 48;
  more.most_running = 16;
  const ServingTime running = serving_time(job, all, ceilings, nullptr);
  const ServingTime queued = serving_time(job, more, ceilings, nullptr);
  CHECK(queued.tpot.value.base() == running.tpot.value.base());
  CHECK(queued.output.value.base() == Approx(running.output.value.base()));  // Little's law
  CHECK(queued.ttft.value.base() == Approx(running.ttft.value.base() + 2 * running.e2e.value.base()));
}

TEST_CASE("serving: terms of a step add up to the step", "[perf]") {
  const Ceilings ceilings(built_in());
  for (const char* name : {"llama-3.1-70b", "deepseek-r1", "gpt-oss-120b"}) {
    const ServedModel model = served(name);
    const ServingJob job{&model, &engine(), {4096, 1024, 256}};
    for (const double load : {1.0, 64.0}) {
      const ServingCandidate c = candidate("H200-SXM-141GB", 8, load);
      const auto decode = step_breakdown(job, c, Phase::decode, ceilings);
      CAPTURE(name, load);
      Seconds sum;
      for (const auto& term : decode.terms()) {
        CHECK(term.value >= Seconds{});
        sum += term.value;
      }
      CHECK(sum.base() == Approx(decode.total().base()).epsilon(1e-12));
      CHECK(decode.total().base() == Approx(serving_time(job, c, ceilings, nullptr).step.value.base()).epsilon(1e-12));
      CHECK(decode.of("collectives") > Seconds{});
    }
  }
}

TEST_CASE("serving: small all-reduces take one exchange, not a ring", "[perf]") {
  const ServedModel model = served("llama-3.1-70b");
  const ServingJob job{&model, &engine(), {4096, 1024, 256}};
  const ServingCandidate c = candidate("H100-SXM5-80GB", 8, 1);
  const FabricLevel& link = c.fabric.inside;
  const Bytes size = 8192 * bytes(2);
  const Seconds one_shot = link.latency_2 + 7 * (size / (link.rate * link.point_to_point_efficiency));
  CHECK(one_shot < all_reduce_time(link, 8, size));
  CHECK(step_collectives(job, c, Phase::decode, 1, nullptr).base() == Approx(160 * one_shot.base()));
  // A large message goes around the ring: two all-reduces in each of 80 layers.
  const Seconds ring = all_reduce_time(link, 8, 8192 * size);
  CHECK(step_collectives(job, c, Phase::prefill, 8192, nullptr).base() == Approx(160 * ring.base()));
}

TEST_CASE("serving: intervals hold the value and come from the engine's regime", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-8b");
  for (const Engine& e : built_in().engines()) {
    const ServingJob job{&model, &e, {4096, 1024, 256}};
    for (const double load : {1.0, 32.0}) {
      const ServingTime t = serving_time(job, candidate("H100-SXM5-80GB", 1, load), ceilings, nullptr);
      CAPTURE(e.name, load);
      CHECK(t.ttft.low < t.ttft.high);
      CHECK(t.tpot.low < t.tpot.high);
      CHECK(t.output.low < t.output.high);
      CHECK(t.decode.low.base() == Approx(1 / t.tpot.high.base()));
      const std::string_view regime = load > 1 ? "decode_loaded" : "decode";
      for (const EngineInterval& interval : e.intervals) {
        if (interval.regime == regime) CHECK(t.tpot.high.base() == Approx(t.tpot.value.base() * interval.high.value));
      }
    }
  }
}

TEST_CASE("serving: no interval promises more than the datasheet", "[perf]") {
  const Ceilings ceilings(built_in());
  for (const auto& [name, scheme] : {std::pair{"llama-3.1-8b", "bf16"}, std::pair{"llama-3.1-70b", "int4-awq-g128"},
                                     std::pair{"deepseek-r1", "fp8-block"}, std::pair{"gpt-oss-120b", "mxfp4"}}) {
    const ServedModel model = served(name, scheme);
    for (const Engine& e : built_in().engines()) {
      const ServingJob job{&model, &e, {4096, 1024, 256}};
      bool in_order = true;
      bool possible = true;
      bool weights_fit = true;
      for (const Accelerator& gpu : built_in().accelerators()) {
        for (const double load : {1.0, 32.0}) {
          const ServingCandidate c = candidate(gpu, 1, load);
          const ServingTime t = serving_time(job, c, ceilings, nullptr);
          const ServingWork work = serving_work(job, c, ceilings);
          const JoinedSeconds least = least_seconds(work, constants_of(e));
          const auto ordered = [](const auto& interval) {
            return interval.low <= interval.value && interval.value <= interval.high;
          };
          in_order = in_order && ordered(t.ttft) && ordered(t.tpot) && ordered(t.step) && ordered(t.e2e) &&
                     ordered(t.prefill) && ordered(t.decode) && ordered(t.output);
          possible = possible && t.ttft.low.base() >= least.ttft && t.tpot.low.base() >= least.tpot &&
                     t.step.low.base() >= least.step && t.e2e.low.base() >= least.e2e(work.output) &&
                     t.decode.high.base() * least.tpot <= 1 + 1e-12;
          // By hand: the step reads more than the weights without the look-up table, of experts those touched.
          if (std::string_view(name) == "llama-3.1-8b") {
            const double weights = 2 * (8030261248.0 - 128256.0 * 4096);
            weights_fit = weights_fit && t.tpot.low.base() >= weights / ceilings.peak_bandwidth(gpu).value.base();
          }
        }
      }
      CAPTURE(name, e.name);
      CHECK(in_order);
      CHECK(possible);
      CHECK(weights_fit);
    }
  }
}

TEST_CASE("serving: an engine that finishes prompts first makes requests wait and then decodes faster", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-8b");
  Engine mixed = engine();
  mixed.prefill_first = false;
  mixed.in_step = {};
  mixed.meeting = {};
  Engine first = mixed;
  first.prefill_first = true;
  const auto time = [&](const Engine& e, double load) {
    return serving_time({&model, &e, {4096, 1024, 256}}, candidate("H100-SXM5-80GB", 1, load), ceilings, nullptr);
  };
  CHECK(time(first, 1).ttft.value.base() == time(mixed, 1).ttft.value.base());
  CHECK(time(first, 1).tpot.value.base() == time(mixed, 1).tpot.value.base());
  const ServingTime a = time(first, 32);
  const ServingTime b = time(mixed, 32);
  CHECK(a.ttft.value > 2 * b.ttft.value);
  CHECK(a.tpot.value < b.tpot.value);
  CHECK(a.step.value.base() == b.step.value.base());
  CHECK(a.e2e.value.base() == Approx(b.e2e.value.base()).epsilon(0.01));  // the same work in another order
}

TEST_CASE("serving: the explanation of an operator says where its rates are from", "[perf]") {
  const Ceilings ceilings(built_in());
  const ServedModel model = served("llama-3.1-70b", "int4-awq-g128");
  const ServingJob job{&model, &engine(), {4096, 1024, 256}};
  Explain why;
  (void)serving_time(job, candidate("L40S", 1, 8), ceilings, &why);
  int operators = 0;
  for (const ExplainedTerm& term : why.terms()) {
    for (const ExplainInput& input : term.inputs) {
      const bool is_rate = input.name == "peak" || input.name == "peak_reached" || input.name == "bandwidth" ||
                           input.name == "bandwidth_reached";
      const bool is_constant = input.name == "efficiency" || input.name == "bandwidth_efficiency" ||
                               input.name == "overlap" || input.name == "launch";
      CAPTURE(term.id, input.name, input.source);
      if (is_rate) CHECK_FALSE(input.source.empty());
      if (is_constant) CHECK(input.source.find("fitted: data/engines.yaml") == 0);
      if (input.name == "peak") ++operators;
    }
  }
  CHECK(operators > 10);
}

TEST_CASE("regimes: names are those of the engines' intervals", "[perf]") {
  for (const Engine& e : built_in().engines()) {
    for (const EngineInterval& interval : e.intervals) {
      bool known = false;
      for (const Regime regime :
           {Regime::prefill, Regime::decode, Regime::prefill_loaded, Regime::decode_loaded, Regime::throughput}) {
        known = known || to_string(regime) == interval.regime;
      }
      CAPTURE(e.name, interval.regime);
      CHECK(known);
    }
  }
}
