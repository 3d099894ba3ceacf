// What the overviews that gpuplan grew from say about speed, answered by facts and physics.

#include "catch.hpp"

#include "serving_fixture.hpp"

#include <gpuplan/perf/cpu_slice.hpp>

using namespace gpuplan;
using namespace gpuplan::testing;

namespace {

const Ceilings& ceilings() {
  static const Ceilings all(built_in());
  return all;
}

const Accelerator& card(std::string_view name) {
  const Accelerator* found = built_in().find_accelerator(name);
  REQUIRE(found);
  return *found;
}

ServingTime time_of(const ServedModel& model, const char* engine, const char* gpu, std::int64_t tp, double load) {
  return serving_time({&model, built_in().find_engine(engine), {4096, 1024, 256}}, candidate(gpu, tp, load), ceilings(),
                      nullptr);
}

}  // namespace

TEST_CASE("seeds: an H100 has 1.6 times the bandwidth of an A100 80GB and 2.15 times that of the 40GB card, not 3",
          "[seeds]") {
  const auto rate = [](const char* name) { return card(name).memory_bandwidth.value; };
  CHECK(rate("H100-SXM5-80GB") / rate("A100-SXM4-80GB") == Approx(3350.0 / 2039).epsilon(0.01));
  CHECK(rate("H100-SXM5-80GB") / rate("A100-SXM4-40GB") == Approx(3350.0 / 1555).epsilon(0.01));
}

TEST_CASE("seeds: an H100 is two to three times faster than an A100 on transformers where arithmetic limits",
          "[seeds]") {
  const ServedModel bf16 = served("llama-3.1-70b");
  const double prefill = time_of(bf16, "vllm", "A100-SXM4-80GB", 8, 1).ttft.value /
                         time_of(bf16, "vllm", "H100-SXM5-80GB", 8, 1).ttft.value;
  CHECK(prefill > 1.5);
  CHECK(prefill < 3);
  // One stream is bound by memory and gains what memory gained.
  const double decode = time_of(bf16, "vllm", "A100-SXM4-80GB", 8, 1).tpot.value /
                        time_of(bf16, "vllm", "H100-SXM5-80GB", 8, 1).tpot.value;
  CHECK(decode > 1.1);
  CHECK(decode < 1.8);
}

TEST_CASE("seeds: a GPU multiplies tens to hundreds of times faster than a server's CPU, and reads ten times faster",
          "[seeds]") {
  const Accelerator& a100 = card("A100-SXM4-80GB");
  for (const char* name : {"EPYC-7763", "EPYC-9654", "Xeon-Platinum-8380"}) {
    CAPTURE(name);
    const double products = ceilings().compute(a100, Arithmetic::bf16) / card(name).achieved_gemm.value;
    CHECK(products > 20);
    CHECK(products < 1000);
    CHECK(a100.memory_bandwidth.value / card(name).memory_bandwidth.value > 4);
  }
}

TEST_CASE("seeds: small models run on a T4, an A4000 and a CPU", "[seeds]") {
  const ServedModel model = served("qwen2.5-0.5b");
  for (const char* name : {"T4", "RTX-A4000"}) {
    CAPTURE(name);
    CHECK(time_of(model, "vllm", name, 1, 1).decode.value > tokens_per_second(30));
  }
  const Accelerator vps = slice_of({&card("EPYC-9654"), 8, 2});
  ServingCandidate c;
  c.accelerator = &vps;
  const ServingTime t =
      serving_time({&model, built_in().find_engine("llama.cpp-cpu"), {4096, 256, 128}}, c, ceilings(), nullptr);
  CHECK(t.decode.value > tokens_per_second(10));
}

// vLLM says 5 to 24 times of a loop that serves one request after the other; it comes from batching, and grows with the load.
TEST_CASE("seeds: serving many requests at once gives several times the tokens of one after the other", "[seeds]") {
  const ServedModel model = served("llama-2-13b");
  const double loop = time_of(model, "transformers", "A100-SXM4-40GB", 1, 1).output.value.base();
  const double batched = time_of(model, "vllm", "A100-SXM4-40GB", 1, 16).output.value.base();
  CHECK(batched / loop > 5);
  CHECK(batched / loop < 24);
}
