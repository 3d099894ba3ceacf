#include "catch.hpp"

#include "architectures.hpp"

#include <gpuplan/model/architecture.hpp>
#include <gpuplan/model/tensors.hpp>

#include <cstdint>
#include <limits>
#include <string>

using namespace gpuplan;

namespace {

Fact<std::int64_t> fact(std::int64_t value) { return {value, Mark::published, 0}; }

ModelPreset small_preset() {
  ModelPreset p;
  p.name = "small";
  p.layers = fact(4);
  p.hidden_size = fact(64);
  p.heads = fact(8);
  p.intermediate_size = fact(256);
  p.vocab_size = fact(1000);
  return p;
}

}  // namespace

TEST_CASE("architecture: what a preset leaves out follows from what it says", "[model]") {
  ModelPreset p = small_preset();
  p.sliding_window = fact(128);
  const Architecture a = architecture_of(p);
  CHECK(a.kv_heads == 8);
  CHECK(a.head_dim == 8);  // 64 / 8
  CHECK(a.windowed_layers == 4);
  CHECK(a.norms_per_layer == 2);
  CHECK(check_architecture(a).empty());
}

TEST_CASE("architecture: experts take their width from the plain MLP and shared experts from the experts", "[model]") {
  ModelPreset p = small_preset();
  p.experts = fact(8);
  p.experts_per_token = fact(2);
  p.shared_experts = fact(2);
  const Architecture a = architecture_of(p);
  CHECK(a.expert_intermediate == 256);
  CHECK(a.shared_expert_intermediate == 512);
  CHECK(a.expert_layers() == 4);
  CHECK(a.plain_layers() == 0);
}

TEST_CASE("architecture: every published model can be", "[model]") {
  for (const testing::KnownArchitecture& known : testing::kKnownArchitectures) {
    CAPTURE(known.name);
    CHECK(check_architecture(testing::architecture(known.name)).empty());
  }
}

TEST_CASE("architecture: one number out of range is one problem that names it", "[model]") {
  struct Row {
    const char* field;
    std::int64_t Architecture::*member;
    std::int64_t value;
  };
  const auto row = GENERATE(values<Row>({
      {"layers", &Architecture::layers, 0},
      {"hidden_size", &Architecture::hidden, -1},
      {"heads", &Architecture::heads, 0},
      {"kv_heads", &Architecture::kv_heads, 0},
      {"vocab_size", &Architecture::vocab, std::numeric_limits<std::int64_t>::max()},
      {"experts", &Architecture::experts, std::numeric_limits<std::int64_t>::min()},
      {"dense_layers", &Architecture::dense_layers, -3},
      {"norms_per_layer", &Architecture::norms_per_layer, 17},
  }));
  CAPTURE(row.field);
  Architecture a = testing::architecture("llama-3.1-8b");
  a.*row.member = row.value;
  const auto problems = check_architecture(a);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "model.bad_architecture");
  CHECK(problems[0].message.find(row.field) != std::string::npos);
}

TEST_CASE("architecture: contradictions are refused", "[model]") {
  struct Row {
    const char* what;
    void (*change)(Architecture& a);
  };
  const auto row = GENERATE(values<Row>({
      {"heads do not divide", [](Architecture& a) { a.kv_heads = 7; }},
      {"no head width", [](Architecture& a) { a.head_dim = 0; }},
      {"no plain width", [](Architecture& a) { a.intermediate = 0; }},
      {"windows without a width", [](Architecture& a) { a.windowed_layers = 2; }},
      {"more windowed layers than layers", [](Architecture& a) { testing::windows(a, 128, 33); }},
      {"more experts a token than experts", [](Architecture& a) { testing::experts(a, 8, 9, 512, 0, 0); }},
      {"experts without a width", [](Architecture& a) { testing::experts(a, 8, 2, 0, 0, 0); }},
      {"positions without a number", [](Architecture& a) { a.learned_positions = true; }},
      {"too many parameters", [](Architecture& a) { testing::experts(a, 1000000, 2, 10000000, 0, 0); }},
  }));
  CAPTURE(row.what);
  Architecture a = testing::architecture("llama-3.1-8b");
  row.change(a);
  const auto problems = check_architecture(a);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "model.bad_architecture");
}
