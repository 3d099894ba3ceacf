#include "catch.hpp"

#include "architectures.hpp"

#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/operators.hpp>
#include <gpuplan/model/tensors.hpp>

#include <numeric>

using namespace gpuplan;
using gpuplan::testing::architecture;

namespace {

// The same network with its layers listed.
Architecture listed(const std::string& name) {
  Architecture a = architecture(name);
  a.mixers = mixers_of(a);
  a.mlps = mlps_of(a);
  return a;
}

double total_flops(const Architecture& a, Phase phase) {
  const StepShape step{phase, 4, phase == Phase::decode ? 1.0 : 512.0, 2048, 4};
  double flops = 0;
  for (const Operator& op :
       operators_of(a, parse_scheme("bf16").value.value(), *parse_kv_format("bf16").value.value(), step, {}))
    flops += op.count * op.flops.base();
  return flops;
}

/// A layer of two matrices and a state.
Recurrence small_recurrence() {
  Recurrence r;
  r.kind = "test";
  r.tensors = {{"mixer.in", TensorRole::recurrence, Sharding::column, 1, 48, 16},
               {"mixer.decay", TensorRole::state, Sharding::column, 1, 8, 1},
               {"mixer.out", TensorRole::recurrence, Sharding::row, 1, 16, 32}};
  r.state = bytes(1000);
  r.scan_flops = 64;
  return r;
}

Architecture hybrid() {
  Architecture a;
  a.name = "hybrid";
  a.layers = 4;
  a.hidden = 16;
  a.vocab = 100;
  a.heads = 4;
  a.kv_heads = 2;
  a.head_dim = 4;
  a.intermediate = 64;
  a.mixers = {{1, a, std::nullopt}, {3, {}, small_recurrence()}};
  return a;
}

}  // namespace

TEST_CASE("layer groups: a network with its layers listed is the same network", "[model]") {
  for (const char* name : {"llama-3.1-8b", "gemma-3-27b", "deepseek-v3", "gpt-oss-120b", "llama-4-maverick"}) {
    CAPTURE(name);
    const Architecture plain = architecture(name);
    const Architecture grouped = listed(name);
    CHECK(parameters(tensors_of(grouped)) == parameters(tensors_of(plain)));
    CHECK(active_parameters(grouped) == active_parameters(plain));
    CHECK(kv_bytes_per_token(grouped, bytes(2)) / kv_bytes_per_token(plain, bytes(2)) == Approx(1));
    CHECK(total_flops(grouped, Phase::decode) == Approx(total_flops(plain, Phase::decode)));
    CHECK(total_flops(grouped, Phase::prefill) == Approx(total_flops(plain, Phase::prefill)));
    CHECK(windowed_layers(grouped) == plain.windowed_layers);
    CHECK(check_architecture(grouped).empty());
  }
}

TEST_CASE("layer groups: recurrent layers have a state and no cache", "[model]") {
  const Architecture a = hybrid();
  CHECK(check_architecture(a).empty());
  CHECK(attention_layers(a) == 1);
  CHECK(kv_bytes_per_token(a, bytes(2)) / bytes(1) ==
        Approx(2 * 2 * 4 * 2));  // one layer, two heads of 4, keys and values
  CHECK(state_bytes(a) / bytes(1) == Approx(3000));
  KvCacheInputs in;
  in.full_layers = 1;
  in.elements = 16;
  in.element = bytes(2);
  in.tokens = 10;
  in.state = state_bytes(a);
  in.sequences = 2;
  CHECK(kv_cache_bytes(in, nullptr) / bytes(1) == Approx(2 * (10 * 32 + 3000)));
}

TEST_CASE("layer groups: tensors of recurrent layers count a layer", "[model]") {
  const Architecture a = hybrid();
  const std::int64_t embedding = 2 * 100 * 16;
  const std::int64_t norms = (4 * 2 + 1) * 16;
  const std::int64_t attention = 16 * 16 * 2 + 8 * 16 * 2;
  const std::int64_t recurrent = 3 * (48 * 16 + 8 + 16 * 32);
  const std::int64_t mlp = 4 * 3 * 16 * 64;
  CHECK(parameters(tensors_of(a)) == embedding + norms + attention + recurrent + mlp);
}

TEST_CASE("layer groups: a decode step of recurrent layers does not grow with the context", "[model]") {
  Architecture a = hybrid();
  a.mixers = {{4, {}, small_recurrence()}};
  const auto flops = [&](double context) {
    double total = 0;
    for (const Operator& op :
         operators_of(a, parse_scheme("bf16").value.value(), *parse_kv_format("bf16").value.value(),
                      {Phase::decode, 1, 1, context, 1}, {}))
      total += op.count * op.flops.base();
    return total;
  };
  CHECK(flops(100) == Approx(flops(100000)));
  // products with the matrices, the scan, the MLPs and the head
  CHECK(flops(100) == Approx(4 * (2 * (48 * 16 + 16 * 32) + 64 + 2 * 3 * 16 * 64) + 2 * 100 * 16));
}

TEST_CASE("layer groups: impossible groups are refused", "[model]") {
  Architecture a = hybrid();
  a.mixers[0].layers = 9;
  CHECK(check_architecture(a).size() == 1);
  a = hybrid();
  a.mixers[0].attention.kv_heads = 0;
  CHECK(check_architecture(a).size() == 1);
  a = hybrid();
  a.mixers[0].attention.kv_heads = 3;  // 4 heads
  CHECK(check_architecture(a).size() == 1);
}
