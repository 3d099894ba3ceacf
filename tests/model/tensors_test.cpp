#include "catch.hpp"

#include "architectures.hpp"
#include "reference_table.hpp"

#include <gpuplan/model/tensors.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace gpuplan;
using gpuplan::testing::architecture;

namespace {

Scheme scheme(std::string_view name) {
  const auto parsed = parse_scheme(name);
  REQUIRE(parsed.value.has_value());
  return *parsed.value;
}

double held_by_one_rank(const Architecture& a, const Scheme& s, std::int64_t ranks) {
  Bytes total;
  for (const TensorGroup& t : tensors_of(a)) total += weights_bytes({&t, 1}, s) * shard_share(t, a, ranks);
  return total / bytes(1);
}

}  // namespace

TEST_CASE("tensors: parameters of published models are exact", "[model]") {
  for (const auto& row : testing::reference_table("parameters.csv")) {
    CAPTURE(row.at("model"), row.at("source"));
    const std::int64_t published = std::strtoll(row.at("value").c_str(), nullptr, 10);
    CHECK(parameters(tensors_of(architecture(row.at("model")))) == published);
  }
}

TEST_CASE("tensors: parameters a token passes through are those of the model cards", "[model]") {
  struct Row {
    const char* model;
    double billions;
    double tolerance;
  };
  const auto row = GENERATE(values<Row>({
      {"mixtral-8x7b", 12.9, 0.005},          // arXiv:2401.04088: 12.9B
      {"deepseek-v3", 37, 0.02},              // arXiv:2412.19437: 37B, without the embedding
      {"qwen3-30b-a3b", 3.3, 0.02},           // model card: 3.3B
      {"qwen3-235b-a22b", 22, 0.01},          // model card: 22B
      {"gpt-oss-120b", 5.13 + 0.579, 0.002},  // model card: 5.13B, without the embedding of 201088 * 2880
      {"gpt-oss-20b", 3.61 + 0.579, 0.002},   // model card: 3.61B, likewise
      {"llama-3.1-8b", 8.03, 0.001},          // dense: all of them
  }));
  CAPTURE(row.model);
  CHECK(static_cast<double>(active_parameters(architecture(row.model))) / 1e9 ==
        Approx(row.billions).epsilon(row.tolerance));
}

TEST_CASE("tensors: weights are as large as published checkpoints", "[model]") {
  for (const auto& row : testing::reference_table("weights.csv")) {
    CAPTURE(row.at("model"), row.at("scheme"), row.at("source"));
    const double got = weights_bytes(tensors_of(architecture(row.at("model"))), scheme(row.at("scheme"))) / bytes(1);
    const double value = testing::number(row, "value");
    CHECK(got >= value * (1 - testing::number(row, "tolerance")));
    CHECK(got <= value * (1 + testing::number(row, "tolerance")));
  }
}

TEST_CASE("tensors: a scheme leaves embedding, head, norms, biases and routers in 16 bit", "[model]") {
  const Scheme& awq = scheme("int4-awq-g128");
  for (const TensorGroup& t : tensors_of(architecture("gpt-oss-20b"))) {
    CAPTURE(t.name);
    const bool linear = t.role == TensorRole::attention || t.role == TensorRole::expert;
    CHECK(storage_of(t, awq).bits == (linear ? Approx(4) : Approx(16)));
    CHECK(storage_of(t, scheme("mxfp4")).bits == (t.role == TensorRole::expert ? Approx(4) : Approx(16)));
  }
}

TEST_CASE("tensors: ranks together hold at least the whole", "[model]") {
  for (const testing::KnownArchitecture& known : testing::kKnownArchitectures) {
    const Architecture a = architecture(known.name);
    const double whole = held_by_one_rank(a, scheme("bf16"), 1);
    CHECK(whole == Approx(weights_bytes(tensors_of(a), scheme("bf16")) / bytes(1)));
    for (const std::int64_t ranks : {2, 4, 8, 16}) {
      CAPTURE(known.name, ranks);
      CHECK(static_cast<double>(ranks) * held_by_one_rank(a, scheme("bf16"), ranks) >= whole * (1 - 1e-12));
    }
  }
}

TEST_CASE("tensors: two ranks hold Llama 3 8B as vLLM loads it", "[model]") {
  // vLLM pull request with memory profiling (facts/measured/inference.csv): 14.96 GiB on one device, 7.48 on two.
  const Architecture a = architecture("llama-3.1-8b");
  CHECK(held_by_one_rank(a, scheme("bf16"), 2) / (1 << 30) == Approx(7.48).epsilon(0.001));
}

TEST_CASE("tensors: KV heads are replicated when there are fewer than ranks", "[model]") {
  const Architecture a = architecture("qwen2.5-7b");  // 4 KV heads
  for (const TensorGroup& t : tensors_of(a)) {
    if (t.name != "layers.*.attention.k") continue;
    CHECK(shard_share(t, a, 2) == Approx(0.5));
    CHECK(shard_share(t, a, 8) == Approx(0.25));
  }
}

TEST_CASE("tensors: every role has a name of its own", "[model]") {
  for (int i = 0; i <= static_cast<int>(TensorRole::shared_expert); ++i) {
    CHECK(to_string(static_cast<TensorRole>(i)) != "?");
  }
}
