#include "catch.hpp"

#include "architectures.hpp"

#include <gpuplan/model/operators.hpp>
#include <gpuplan/model/tensors.hpp>

#include <cmath>
#include <string>
#include <string_view>

using namespace gpuplan;
using gpuplan::testing::architecture;

namespace {

Scheme scheme(std::string_view name) {
  const auto parsed = parse_scheme(name);
  REQUIRE(parsed.value.has_value());
  return *parsed.value;
}

const KvFormat& kv(std::string_view name) {
  const auto parsed = parse_kv_format(name);
  REQUIRE(parsed.value.has_value());
  return **parsed.value;
}

StepShape prefill(double tokens, double context = 0) { return {Phase::prefill, 1, tokens, context, 1}; }
StepShape decode(double sequences, double context) { return {Phase::decode, sequences, 1, context, sequences}; }

std::vector<Operator> run(const Architecture& a, const StepShape& step, std::int64_t ranks = 1,
                          std::string_view weights = "bf16") {
  return operators_of(a, scheme(weights), kv("bf16"), step, {ranks, 1});
}

double flops(const std::vector<Operator>& list) {
  double sum = 0;
  for (const Operator& op : list) sum += op.count * (op.flops / flop(1));
  return sum;
}

double moved(const std::vector<Operator>& list, OperatorKind kind) {
  double sum = 0;
  for (const Operator& op : list) {
    if (op.kind == kind) sum += op.count * (op.bytes / bytes(1));
  }
  return sum;
}

const Operator* find(const std::vector<Operator>& list, std::string_view id) {
  for (const Operator& op : list) {
    if (op.id == id) return &op;
  }
  return nullptr;
}

double embedding_parameters(const Architecture& a) { return static_cast<double>(a.vocab * a.hidden); }

}  // namespace

TEST_CASE("operators: a short prompt costs two FLOPs a token and active parameter", "[model]") {
  const auto model = GENERATE(as<std::string>{}, "llama-2-7b", "llama-3.1-8b", "llama-3.1-70b", "mixtral-8x7b",
                              "qwen3-30b-a3b", "gpt-oss-120b", "deepseek-v3", "gemma-2-9b", "opt-6.7b");
  CAPTURE(model);
  const Architecture a = architecture(model);
  constexpr double tokens = 128;
  // The embedding is looked up, and the head computes one row only.
  const double tables = embedding_parameters(a) * (a.tied_embeddings ? 1 : 2);
  const double positions =
      a.learned_positions ? static_cast<double>((a.max_position + a.position_offset) * a.hidden) : 0;
  const double through = static_cast<double>(active_parameters(a)) - tables - positions;
  const double expected = 2 * (through * tokens + embedding_parameters(a));
  CHECK(flops(run(a, prefill(tokens))) == Approx(expected).epsilon(0.03));
}

TEST_CASE("operators: a decode step of one sequence reads the weights less the embedding, and the KV cache",
          "[model]") {
  const auto model = GENERATE(as<std::string>{}, "llama-2-7b", "llama-3.1-8b", "llama-3.1-70b", "qwen2.5-7b", "gpt2");
  const auto weights = GENERATE(as<std::string>{}, "bf16", "int4-awq-g128", "fp8");
  CAPTURE(model, weights);
  const Architecture a = architecture(model);
  constexpr double context = 1023;
  const auto list = run(a, decode(1, context), 1, weights);
  const auto tensors = tensors_of(a);
  const double table = 2 * embedding_parameters(a) * (a.tied_embeddings ? 0 : 1);  // a tied table is read by the head
  const double positions = a.learned_positions ? 2.0 * static_cast<double>(a.max_position * a.hidden) : 0;
  const double read = weights_bytes(tensors, scheme(weights)) / bytes(1) - table - positions;
  const double cache = 2.0 * static_cast<double>(a.layers * a.kv_heads * a.head_dim) * 2 * (context + 1);
  CHECK(moved(list, OperatorKind::gemm) == Approx(read).epsilon(0.01));
  CHECK(moved(list, OperatorKind::attention) == Approx(cache).epsilon(0.01));
}

TEST_CASE("operators: one decode token of a mixture reads the active experts only", "[model]") {
  const Architecture a = architecture("mixtral-8x7b");
  const double active = 2 * (static_cast<double>(active_parameters(a)) - embedding_parameters(a));
  CHECK(moved(run(a, decode(1, 0)), OperatorKind::gemm) == Approx(active).epsilon(0.01));
}

TEST_CASE("operators: touched experts grow from k to all", "[model]") {
  CHECK(touched_experts(128, 8, 1) == Approx(8));
  CHECK(touched_experts(8, 2, 2) == Approx(8 * (1 - 0.75 * 0.75)));
  CHECK(touched_experts(128, 8, 10000) == Approx(128));
  CHECK(touched_experts(0, 0, 5) == Approx(0));
  for (double tokens = 1; tokens < 100; tokens *= 2) {
    CHECK(touched_experts(64, 6, 2 * tokens) > touched_experts(64, 6, tokens));
  }
}

TEST_CASE("operators: attention of a causal prefill is half of all pairs, and full over the cached context",
          "[model]") {
  const Architecture a = architecture("llama-2-7b");  // 32 heads of 128
  const Operator* fresh = nullptr;
  const auto first = run(a, prefill(2048));
  REQUIRE((fresh = find(first, "attention.core")) != nullptr);
  CHECK(fresh->flops / flop(1) == Approx(4.0 * 32 * 128 * 2048 * 2049 / 2));
  const auto second = run(a, prefill(512, 2048));
  REQUIRE((fresh = find(second, "attention.core")) != nullptr);
  CHECK(fresh->flops / flop(1) == Approx(4.0 * 32 * 128 * (512.0 * 2048 + 512.0 * 513 / 2)));
}

TEST_CASE("operators: chunks of a prompt cost the attention of the whole", "[model]") {
  for (const char* model : {"llama-3.1-8b", "gpt-oss-20b", "mistral-7b"}) {
    CAPTURE(model);
    const Architecture a = architecture(model);
    const auto attention = [&](double tokens, double context) {
      double sum = 0;
      for (const Operator& op : run(a, prefill(tokens, context))) {
        if (op.kind == OperatorKind::attention) sum += op.count * (op.flops / flop(1));
      }
      return sum;
    };
    CHECK(attention(6000, 0) == Approx(attention(50, 0) + attention(2000, 50) + attention(3950, 2050)));
  }
}

TEST_CASE("operators: windowed layers attend to their window", "[model]") {
  const Architecture a = architecture("gpt-oss-20b");  // 64 heads of 64, 8 KV heads, window 128 on 12 of 24 layers
  const auto list = run(a, decode(1, 4095));
  const Operator* full = find(list, "attention.core");
  const Operator* windowed = find(list, "attention.core_windowed");
  REQUIRE(full != nullptr);
  REQUIRE(windowed != nullptr);
  CHECK(full->count == Approx(12));
  CHECK(windowed->count == Approx(12));
  CHECK(full->flops / windowed->flops == Approx(4096.0 / 128));
  CHECK(find(run(architecture("llama-3.1-8b"), decode(1, 100)), "attention.core_windowed") == nullptr);
}

TEST_CASE("operators: latent attention reads its latent once a sequence in decode, on every rank", "[model]") {
  const Architecture a = architecture("deepseek-v3");
  const auto one = run(a, decode(4, 4095), 1);
  const auto eight = run(a, decode(4, 4095), 8);
  const Operator* alone = find(one, "attention.core");
  const Operator* shared = find(eight, "attention.core");
  REQUIRE(alone != nullptr);
  REQUIRE(shared != nullptr);
  // 128 heads: scores over 576, values over 512, each multiply-add two FLOPs
  CHECK(alone->flops / flop(1) == Approx(4.0 * 4096 * 2 * 128 * (576 + 512)));
  CHECK(shared->flops * 8 / flop(1) == Approx(alone->flops / flop(1)));
  const double latents = 4.0 * 4096 * 576 * 2;
  CHECK(alone->bytes / bytes(1) > latents);
  CHECK(shared->bytes / bytes(1) > latents);
  CHECK(shared->bytes / bytes(1) < 1.05 * latents);
}

TEST_CASE("operators: ranks together do the work of one, and replicated work besides", "[model]") {
  for (const char* model : {"llama-3.1-70b", "mixtral-8x7b", "gpt-oss-120b", "deepseek-v3", "qwen2.5-7b"}) {
    CAPTURE(model);
    const Architecture a = architecture(model);
    const double whole = flops(run(a, prefill(256), 1));
    for (const std::int64_t ranks : {2, 4, 8, 16}) {
      const double together = static_cast<double>(ranks) * flops(run(a, prefill(256), ranks));
      CHECK(together >= whole * (1 - 1e-9));
      CHECK(together <= whole * 1.6);
    }
  }
}

TEST_CASE("operators: arithmetic follows the scheme, and what it leaves alone is in 16 bit", "[model]") {
  const auto fp8 = run(architecture("llama-3.1-8b"), prefill(16), 1, "fp8");
  CHECK(find(fp8, "mlp.down")->arithmetic == Arithmetic::fp8);
  CHECK(find(fp8, "attention.core")->arithmetic == Arithmetic::bf16);
  CHECK(find(fp8, "head")->arithmetic == Arithmetic::bf16);
  const auto awq = run(architecture("llama-3.1-8b"), prefill(16), 1, "awq");
  CHECK(find(awq, "mlp.down")->weight_only);
  CHECK_FALSE(find(awq, "head")->weight_only);
  const auto mxfp4 = run(architecture("gpt-oss-20b"), prefill(16), 1, "mxfp4");
  CHECK(find(mxfp4, "experts")->weight_only);
  CHECK_FALSE(find(mxfp4, "attention.qkv")->weight_only);
  const auto fp32 = run(architecture("gpt2"), prefill(16), 1, "fp32");
  for (const Operator& op : fp32) CHECK(op.arithmetic == Arithmetic::fp32);
}

TEST_CASE("operators: rows are worth having", "[model]") {
  for (const testing::KnownArchitecture& known : testing::kKnownArchitectures) {
    CAPTURE(known.name);
    for (const StepShape& step : {prefill(100, 50), decode(8, 1000)}) {
      for (const Operator& op : run(architecture(known.name), step, 2)) {
        CAPTURE(std::string(op.id));
        CHECK(op.count > 0);
        CHECK(op.bytes > bytes(0));
        CHECK(std::isfinite(op.bytes / bytes(1)));
        CHECK((op.flops > flop(0)) == (op.kind != OperatorKind::memory));
        CHECK(op.kernels >= 1);
      }
    }
  }
  CHECK(find(run(architecture("llama-2-7b"), {Phase::prefill, 1, 64, 0, 0}), "head") == nullptr);
}

TEST_CASE("operators: phases have names", "[model]") {
  CHECK(to_string(Phase::prefill) == "prefill");
  CHECK(to_string(Phase::decode) == "decode");
}
