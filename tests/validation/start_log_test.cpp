#include "catalogues.hpp"
#include "catch.hpp"

#include <gpuplan/deploy/engine_release.hpp>
#include <gpuplan/validation/start_log.hpp>

#include <fstream>
#include <iterator>
#include <string>

using namespace gpuplan;
using testing::built_in;
using testing::gpu;
using testing::served;

namespace {

constexpr double kGib = 1073741824;

StartLog log_of(const std::string& name) {
  std::ifstream in(std::string(GPUPLAN_SOURCE_DIR) + "/tests/data/logs/" + name, std::ios::binary);
  return read_start_log(std::string{std::istreambuf_iterator<char>(in), {}});
}

double value(const StartLog& log, std::string_view id) {
  CAPTURE(id);
  REQUIRE(log.term(id));
  return log.term(id)->value;
}

}  // namespace

TEST_CASE("start log: vLLM's lines in the form key=value, GB that are GiB, blocks of 16 tokens", "[validate]") {
  const StartLog log = log_of("vllm-one-device.log");
  CHECK(log.engine == "vllm");
  CHECK(log.version == "0.6.4");
  CHECK(log.context == 20000);
  CHECK(log.utilization == Approx(0.9));
  CHECK(value(log, "weights") == Approx(14.9888 * kGib));
  CHECK(value(log, "torch_peak") == Approx(17.06 * kGib));
  CHECK(value(log, "kv_pool") == Approx(3.81 * kGib));
  CHECK(value(log, "kv_tokens") == 1952 * 16);
}

TEST_CASE("start log: without a model the pool still follows from the other lines", "[validate]") {
  const StartLog log = log_of("vllm-one-device.log");
  const auto predictions = compare_log(built_in(), log, nullptr, nullptr, nullptr);
  REQUIRE(predictions.size() == log.terms.size());
  for (std::size_t i = 0; i < log.terms.size(); ++i) {
    if (log.terms[i].id != "kv_pool") continue;
    REQUIRE(predictions[i].value);
    // 23.58 * 0.90 - 17.06 - 0.35 = 3.812 GiB
    CHECK(*predictions[i].value / kGib == Approx(23.58 * 0.9 - 17.06 - 0.35));
  }
}

TEST_CASE("start log: with a model each term has its prediction", "[validate]") {
  const StartLog log = log_of("vllm-one-device.log");
  const ServedModel model = served("llama-3.1-8b", "bf16");
  const Engine engine = *find_engine_release(built_in(), "vllm@0.6.4");
  const auto predictions = compare_log(built_in(), log, &model, &engine, &gpu("RTX 3090"));
  for (std::size_t i = 0; i < log.terms.size(); ++i) {
    if (log.terms[i].unit == LogUnit::ratio) continue;
    CAPTURE(log.terms[i].id, predictions[i].how);
    REQUIRE(predictions[i].value);
    CHECK(*predictions[i].value == Approx(log.terms[i].value).epsilon(0.03));
  }
}

TEST_CASE("start log: two pools of a rank add up, the same report of another rank does not", "[validate]") {
  const StartLog log = log_of("sglang-two-pools.log");
  CHECK(log.engine == "sglang");
  CHECK(value(log, "kv_pool") == Approx(6 * kGib));  // 2 + 2 + 1 + 1
  CHECK(log.term("kv_pool")->ranks == 2);
  CHECK(value(log, "weights") == Approx(8 * kGib));  // the fuller rank
  CHECK(value(log, "graphs") == Approx(1.04 * kGib));
}

TEST_CASE("start log: ranks of context parallelism hold more tokens in as many bytes", "[validate]") {
  const std::string lines =
      "config: tensor_parallel_size=1, max_model_len=4096\nAvailable KV cache memory: 10.00 GiB\n"
      "GPU KV cache size: 100,000 tokens\n";
  const StartLog one = read_start_log(lines);
  const StartLog two = read_start_log("decode_context_parallel_size=2\n" + lines);
  const ServedModel model = served("llama-3.1-8b", "bf16");
  const Engine engine = *find_engine_release(built_in(), "vllm");
  const auto of = [&](const StartLog& log, std::size_t term) {
    return *compare_log(built_in(), log, &model, &engine, &gpu("H100-SXM5-80GB"))[term].value;
  };
  CHECK(of(two, 0) == of(one, 0));
  CHECK(of(two, 1) == 2 * of(one, 1));
}

TEST_CASE("start log: llama.cpp's buffers by device", "[validate]") {
  const StartLog log = log_of("llama-one-device.log");
  CHECK(log.engine == "llama.cpp");
  CHECK(log.context == 1024);
  CHECK(log.micro_batch == 512);
  CHECK(value(log, "weights.CUDA0") == Approx(4941 * 1048576.0));
  CHECK(value(log, "weights.CUDA_Host") == Approx(344.44 * 1048576.0));
  CHECK(value(log, "kv_cache.CUDA0") == Approx(128 * 1048576.0));
  CHECK(value(log, "compute.CUDA0") == Approx(266.5 * 1048576.0));
  const ServedModel model = served("llama-3.1-8b", "gguf:Q5_K_S");
  const Engine engine = *find_engine_release(built_in(), "llama.cpp");
  const auto predictions = compare_log(built_in(), log, &model, &engine, nullptr);
  for (std::size_t i = 0; i < log.terms.size(); ++i) {
    if (log.terms[i].id.find("Host") != std::string::npos) continue;
    CAPTURE(log.terms[i].id);
    REQUIRE(predictions[i].value);
    CHECK(*predictions[i].value == Approx(log.terms[i].value).epsilon(0.03));
  }
}

TEST_CASE("start log: bytes of an engine builder are bytes", "[validate]") {
  const StartLog log = log_of("trt-build.log");
  CHECK(log.engine == "tensorrt-llm");
  CHECK(value(log, "weights") == 14483464192.0);
  CHECK(value(log, "activations") == 3120566272.0);
  CHECK(value(log, "kv_tokens") == 10718);
}

TEST_CASE("start log: a text of something else has no terms", "[validate]") {
  CHECK(read_start_log("").terms.empty());
  CHECK(read_start_log("nothing\n\n12 GiB of something\nbuffer size\n:\n").terms.empty());
  CHECK(read_start_log(std::string(100000, '9') + " GPU KV cache size: " + std::string(400, '9') + " tokens")
            .terms.size() <= 1);
}
