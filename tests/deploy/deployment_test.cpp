#include <gpuplan/deploy/deployment.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <string>
#include <vector>

namespace gpuplan::testing {
namespace {

std::string rule(std::string_view engine_name, std::string_view accelerator, std::string_view format) {
  const auto rejection = check_engine(engine(engine_name), gpu(accelerator), scheme(format));
  return rejection ? rejection->rule : "runs";
}

std::vector<std::int64_t> degrees(std::string_view model, std::int64_t limit) {
  return tensor_parallel_degrees(architecture_of(preset(model)), limit);
}

using Degrees = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("engine: it runs on the devices of its vendors only", "[deploy]") {
  CHECK(rule("vllm", "H100-SXM5-80GB", "bf16") == "runs");
  CHECK(rule("vllm", "MI300X", "bf16") == "runs");
  CHECK(rule("vllm", "M2-Ultra-192GB", "bf16") == "engine.vendor");
  CHECK(rule("tensorrt-llm", "MI300X", "bf16") == "engine.vendor");
  CHECK(rule("llama.cpp", "M2-Ultra-192GB", "fp16") == "runs");
}

TEST_CASE("engine: it needs its least compute capability", "[deploy]") {
  CHECK(rule("vllm", "P100", "fp16") == "engine.compute_capability");        // 6.0; vLLM needs 7.0
  CHECK(rule("vllm", "V100-SXM2-16GB", "fp16") == "runs");                   // 7.0
  CHECK(rule("tensorrt-llm", "T4", "fp16") == "engine.compute_capability");  // 7.5; it needs 8.0
}

TEST_CASE("engine: a format needs kernels for the device", "[deploy]") {
  CHECK(rule("vllm", "V100-SXM2-16GB", "bf16") == "engine.format");  // bfloat16 needs 8.0
  CHECK(rule("vllm", "T4", "bf16") == "engine.format");
  CHECK(rule("vllm", "A10", "bf16") == "runs");
  CHECK(rule("vllm", "V100-SXM2-16GB", "awq") == "engine.format");  // vLLM's AWQ kernels need 7.5
  CHECK(rule("vllm", "T4", "awq") == "runs");
  CHECK(rule("vllm", "V100-SXM2-16GB", "gptq") == "runs");
  CHECK(rule("vllm", "H100-SXM5-80GB", "fp8") == "runs");
  CHECK(rule("vllm", "A100-SXM4-80GB", "fp8") == "runs");  // vLLM: Marlin kernels, weights only, from 8.0 on
  CHECK(rule("tensorrt-llm", "A100-SXM4-80GB", "fp8") == "engine.format");  // FP8 arithmetic came with 8.9
  CHECK(rule("tensorrt-llm", "L40S", "fp8") == "runs");
  CHECK(rule("llama.cpp", "M2-Ultra-192GB", "q4_k_m") == "runs");
  CHECK(rule("llama.cpp", "H100-SXM5-80GB", "bits:4.6") == "runs");
  CHECK(rule("vllm", "H100-SXM5-80GB", "gguf:Q8_0") == "engine.format");
  CHECK(rule("vllm", "H100-SXM5-80GB", "int4-awq-g32") == "runs");  // group sizes share their kernels
  CHECK(rule("tensorrt-llm", "L40S", "int4-w4a8-g64") == "runs");
  CHECK(rule("vllm", "MI300X", "nf4") == "engine.format");  // bitsandbytes kernels are for NVIDIA
}

TEST_CASE("engine: what it refuses is said with what it needs", "[deploy]") {
  const auto format = check_engine(engine("vllm"), gpu("V100-SXM2-16GB"), scheme("bf16"));
  REQUIRE(format.has_value());
  CHECK(format->needed.find("bf16") != std::string::npos);
  CHECK(format->smallest_change.find("--dtype") != std::string::npos);
  const auto vendor = check_engine(engine("tensorrt-llm"), gpu("MI300X"), scheme("bf16"));
  REQUIRE(vendor.has_value());
  CHECK(vendor->needed.find("AMD") != std::string::npos);
  CHECK(vendor->available == "NVIDIA");
  CHECK(vendor->smallest_change.find("--engine") != std::string::npos);
}

TEST_CASE("engine: capabilities are compared as numbers, not as text", "[deploy]") {
  // 10.0 (Blackwell) is above 8.0 though "10.0" sorts before "8.0".
  CHECK(rule("vllm", "B200-SXM-180GB", "bf16") == "runs");
  CHECK(rule("tensorrt-llm", "B200-SXM-180GB", "nvfp4") == "runs");
}

TEST_CASE("tensor parallelism: powers of two that divide the heads", "[deploy]") {
  CHECK(degrees("llama-3.1-70b", 8) == Degrees{1, 2, 4, 8});       // 64 heads, 8 KV heads
  CHECK(degrees("llama-3.1-70b", 16) == Degrees{1, 2, 4, 8, 16});  // two ranks share a KV head
  CHECK(degrees("qwen2.5-14b", 16) == Degrees{1, 2, 4, 8});        // 40 heads: 16 does not divide them
  CHECK(degrees("qwen2.5-7b", 8) == Degrees{1, 2, 4});             // 28 heads
  CHECK(degrees("gpt2-xl", 8) == Degrees{1});                      // 25 heads
}

TEST_CASE("tensor parallelism: latent attention is split by its heads alone", "[deploy]") {
  CHECK(degrees("deepseek-v3", 16) == Degrees{1, 2, 4, 8, 16});  // 128 heads, one latent on every rank
}

TEST_CASE("tensor parallelism: a limit that is no power of two is not exceeded", "[deploy]") {
  CHECK(degrees("llama-3.1-70b", 7) == Degrees{1, 2, 4});
  CHECK(degrees("llama-3.1-70b", 1) == Degrees{1});
  CHECK(degrees("llama-3.1-70b", 0).empty());
}

TEST_CASE("layout: devices are ranks times stages times replicas", "[deploy]") {
  const Layout layout{4, 2, 3};
  CHECK(layout.devices_per_replica() == 8);
  CHECK(layout.devices() == 24);
}

}  // namespace gpuplan::testing
