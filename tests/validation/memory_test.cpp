#include "catalogues.hpp"
#include "catch.hpp"

#include <gpuplan/deploy/engine_release.hpp>
#include <gpuplan/validation/memory.hpp>
#include <gpuplan/validation/validate.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace gpuplan;
using testing::built_in;
using testing::engine;

namespace {

constexpr const char* kHeader =
    "id,source,task,engine,engine_version,model,accelerator,count,weights,kv,mode,tp,batch,input_tokens,output_tokens,"
    "context,"
    "variant,memory_kind,score,metric,value\n";

Validation validate(const std::string& lines) {
  return validate_table(built_in(), read_csv(kHeader + lines, "rows.csv"), "rows.csv");
}

double predicted(const std::string& line) {
  const Validation v = validate(line);
  REQUIRE(v.scored.size() == 1);
  CAPTURE(v.scored.front().how);
  REQUIRE(v.scored.front().predicted);
  return *v.scored.front().predicted;
}

std::string shipped() {
  std::ifstream in(std::string(GPUPLAN_SOURCE_DIR) + "/data/measured/memory.csv", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<ValidatedRow> of_metric(const std::vector<ValidatedRow>& rows, std::string_view metric) {
  std::vector<ValidatedRow> out;
  for (const ValidatedRow& row : rows) {
    if (row.metric == metric) out.push_back(row);
  }
  return out;
}

}  // namespace

TEST_CASE("validate: the caches that start-up logs print are met to the rounding of the print", "[validate][memory]") {
  const Validation v = validate_table(built_in(), read_csv(shipped(), "memory.csv"), "memory.csv");
  const auto rows = of_metric(v.scored, "kv_bytes");
  REQUIRE(rows.size() == 30);
  for (const ValidatedRow& row : rows) {
    CAPTURE(row.id, row.how, row.measured, row.predicted.value_or(0));
    CHECK(row.abs_error() < 1e-5);
  }
}

TEST_CASE("validate: a latent cache in 8 bit is 61 layers of 576 elements a token", "[validate][memory]") {
  // 32,768 tokens * 61 layers * 576 elements * 34/32 bytes (blocks of 32 with a 16-bit scale) = 1,223,313,408 bytes.
  CHECK(predicted(
            "a,s,text,ik_llama.cpp,,deepseek-ai/DeepSeek-V3,CPU,1,gguf:Q4_K_M,gguf:Q8_0,load,1,,,,32768,,allocated,,"
            "kv_bytes,1223313408\n") == Approx(32768 * 61 * 576 * 34.0 / 32));
}

TEST_CASE("validate: the cache of llama.cpp comes in blocks of 256 positions", "[validate][memory]") {
  // 48 layers * 2 * 4 heads * 128 * 2 bytes = 98,304 bytes a token; 4,000 positions take 16 blocks of 256.
  CHECK(predicted(
            "a,s,text,llama.cpp,,Qwen/Qwen3-30B-A3B,CPU,1,gguf:Q5_K_M,fp16,load,1,,,,4000,,allocated,,kv_bytes,1\n") ==
        Approx(4096 * 98304.0));
}

TEST_CASE("validate: vLLM's pool is what two start-up logs printed", "[validate][memory]") {
  // https://github.com/vllm-project/vllm/issues/10517: vLLM 0.6.4, Llama 3.1 8B in bf16 on an RTX 3090, no chunked prefill.
  const auto tokens = [](const std::string& context) {
    return predicted("a,s,text,vllm,0.6.4,meta-llama/Meta-Llama-3.1-8B,GeForce RTX 3090,1,bf16,,load,1,,,," + context +
                     ",,,,kv_tokens,1\n");
  };
  CHECK(tokens("20000") == Approx(31232).epsilon(0.02));
  CHECK(tokens("29000") == Approx(23648).epsilon(0.02));
}

TEST_CASE("validate: a compute buffer of llama.cpp is the logits of a micro-batch and two residuals",
          "[validate][memory]") {
  // Llama 3.1 8B: 512 * (128,256 + 2 * 4,096) * 4 bytes = 279,445,504 = 266.5 MiB, as logs print; Qwen3-235B: 512 * (151,936 + 2 *
  // 4,096) * 4 = 312.75 MiB.
  const auto buffer = [](const std::string& model) {
    return predicted("a,s,text,llama.cpp,," + model +
                     ",RTX A6000,1,gguf:Q8_0,fp16,load,1,,,,1024,attention=flash,allocated,,"
                     "compute_buffer_bytes_per_device,1\n") /
           1048576;
  };
  CHECK(buffer("meta-llama/Meta-Llama-3.1-8B") == Approx(266.5));
  CHECK(buffer("Qwen/Qwen3-235B-A22B") == Approx(312.75));
}

TEST_CASE("validate: memory has the interval of its overheads, a cache and a verdict have none", "[validate][memory]") {
  const auto row = [](const std::string& metric) {
    const Validation v = validate(
        "a,s,text,llama.cpp,,meta-llama/Meta-Llama-3.1-8B,RTX A6000,1,gguf:Q8_0,fp16,load,1,,,,1024,attention=flash,"
        "allocated,," +
        metric + ",1\n");
    return v.scored.front();
  };
  const ValidatedRow buffer = row("compute_buffer_bytes_per_device");
  CHECK(buffer.low.value() == Approx(*buffer.predicted * *engine("llama.cpp").overhead_low));
  CHECK(buffer.high.value() == Approx(*buffer.predicted * *engine("llama.cpp").overhead_high));
  const ValidatedRow peak = row("peak_bytes_per_device");  // weights and cache are exact
  CHECK(*peak.high - *peak.predicted == Approx(*buffer.high - *buffer.predicted));
  for (const char* exact : {"kv_bytes", "fits"}) CHECK_FALSE(row(exact).low.has_value());
}

TEST_CASE("validate: a pool is smaller by what the overheads are more", "[validate][memory]") {
  const auto row = [](const std::string& metric) {
    const Validation v = validate(
        "a,s,text,vllm,,meta-llama/Meta-Llama-3.1-8B,GeForce RTX 4090,1,bf16,,load,1,,,,8192,,,," + metric + ",1\n");
    return v.scored.front();
  };
  const ValidatedRow pool = row("kv_bytes_per_device");
  const ValidatedRow activations = row("activation_bytes_per_device");
  const ValidatedRow outside = row("non_torch_bytes_per_device");
  CHECK(*pool.predicted - *pool.low ==
        Approx(*activations.high - *activations.predicted + *outside.high - *outside.predicted));
  const ValidatedRow tokens = row("kv_tokens");
  CHECK(*tokens.low / *tokens.predicted == Approx(*pool.low / *pool.predicted));
}

TEST_CASE("validate: a row without a prediction counts as an error of 1 and says why", "[validate]") {
  const Validation v = validate(
      "a,s,text,llama.cpp,,no-such-model,RTX A6000,1,gguf:Q8_0,fp16,load,1,,,,1024,,allocated,,kv_bytes,5\n"
      "b,s,text,no-engine,,gpt2,RTX A6000,1,fp16,,load,1,,,,1024,,allocated,,kv_bytes,5\n"
      "c,s,image,no-engine,,gpt2,RTX A6000,1,fp16,,load,1,,,,1024,,allocated,,frames_per_joule,5\n"
      "d,s,text,llama.cpp,,gpt2,RTX A6000,1,fp16,,load,1,,,,1024,,allocated,no,kv_bytes,5\n");
  CHECK(v.rows == 4);
  REQUIRE(v.scored.size() == 3);
  CHECK(v.scored[0].how == "model.unknown");
  CHECK(v.scored[1].how == "engine.unknown");
  CHECK(v.scored[2].how == "metric.not_modelled");
  for (const ValidatedRow& row : v.scored) CHECK(row.abs_error() == 1);
}

TEST_CASE("validate: each source weighs the same in a group", "[validate]") {
  // Two rows of one source with an error of 0 and 0.2, one of another with 1: the means are 0.1 and 1, the mean of both 0.55.
  const auto row = [](std::string source, double measured, double predicted) {
    ValidatedRow r;
    r.source = std::move(source);
    r.metric = "kv_tokens";
    r.measured = measured;
    r.predicted = predicted;
    return r;
  };
  const std::vector<ValidatedRow> rows = {row("a", 10, 10), row("a", 10, 12), row("b", 10, 20)};
  const std::vector<std::string> keys = {"metric"};
  const auto groups = summarize_rows(rows, keys);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].by == std::vector<std::string>{"kv_tokens"});
  CHECK(groups[0].rows == 3);
  CHECK(groups[0].sources == 2);
  CHECK(groups[0].mean_abs_error == Approx(0.55));
  CHECK(groups[0].worst_abs_error == Approx(1));
}

TEST_CASE("validate: whether something fits is right or wrong", "[validate]") {
  ValidatedRow row;
  row.metric = "fits";
  row.measured = 1;
  row.predicted = 1;
  CHECK(row.abs_error() == 0);
  row.predicted = 0;
  CHECK(row.abs_error() == 1);
  row.predicted.reset();
  CHECK(row.abs_error() == 1);
}

TEST_CASE("engine releases: versions are compared number by number", "[validate][memory]") {
  CHECK(is_older_release("0.9", "0.10"));
  CHECK_FALSE(is_older_release("0.10", "0.9"));
  CHECK(is_older_release("0.6.5-dev", "0.7"));
  CHECK_FALSE(is_older_release("0.7", "0.7.0"));
  CHECK_FALSE(is_older_release("v0.8", "0.8"));
}

TEST_CASE("engine releases: a name without a release is the newest, older ones keep their rules",
          "[validate][memory]") {
  const auto newest = find_engine_release(built_in(), "vllm");
  const auto old = find_engine_release(built_in(), "vllm@0.6.4");
  REQUIRE(newest);
  REQUIRE(old);
  CHECK_FALSE(newest->whole_prompts);
  CHECK(old->whole_prompts);
  CHECK(old->context.value > newest->context.value);
  CHECK(find_engine_release(built_in(), "vllm@0.99")->context.value / newest->context.value == Approx(1));
  CHECK_FALSE(find_engine_release(built_in(), "vllm@"));
  CHECK_FALSE(find_engine_release(built_in(), "vllm@newest"));
  CHECK_FALSE(find_engine_release(built_in(), "no-such-engine@1"));
}
