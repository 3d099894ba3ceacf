#include "catch.hpp"
#include "model/architectures.hpp"
#include "model/reference_table.hpp"

#include <gpuplan/model/ggml_types.hpp>
#include <gpuplan/model/stored_scheme.hpp>
#include <model/module_pattern.hpp>

#include <string>
#include <vector>

using namespace gpuplan;
using testing::architecture;

namespace {

Scheme scheme(std::string_view name) { return parse_scheme(name).value.value(); }

/// `a b=fp8`: patterns with a blank between, each with its format.
std::vector<ModuleRule> rules_of(std::string_view text) {
  std::vector<ModuleRule> rules;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const auto equals = word.find('=');
    rules.push_back({std::string(word.substr(0, equals)),
                     equals == std::string_view::npos ? std::string() : std::string(word.substr(equals + 1))});
  }
  return rules;
}

/// Bits of one group, by the rules over a scheme.
double bits_of(std::string_view model, std::string_view group, std::string_view format, std::string_view rules) {
  const Architecture a = architecture(model);
  const auto tensors = tensors_of(a);
  const Scheme stored = resolve_scheme(scheme(format), a, tensors, rules_of(rules));
  for (const TensorGroup& t : tensors) {
    if (t.name == group) return storage_of(t, stored).bits;
  }
  return 0;
}

bool fits(std::string_view pattern, std::string_view name) {
  MatchBudget budget;
  const auto regex = ModuleRegex::compile(pattern);
  return regex && regex->matches(name, budget);
}

}  // namespace

TEST_CASE("module patterns: regular expressions as checkpoints use them", "[model]") {
  CHECK(fits(".*self_attn.*", "model.layers.0.self_attn.q_proj"));
  CHECK(fits(R"(.*mlp\.(gate|up|gate_up|down)_proj.*)", "model.layers.0.mlp.gate_up_proj"));
  CHECK_FALSE(fits(R"(.*mlp\.(gate|up)_proj$)", "model.layers.0.mlp.gate_up_proj"));
  CHECK(fits(R"(.*experts\.\d+\..*)", "model.layers.3.mlp.experts.0.gate_proj"));
  CHECK_FALSE(fits("(?!.*self_attn).*", "model.layers.0.self_attn.q_proj"));
  CHECK(fits(R"(model\.layers\.([1-9]|[1-5][0-9])\.mlp)", "model.layers.23.mlp.gate"));
  CHECK(fits("a{2,3}$", "aaa"));
  CHECK_FALSE(fits("a{2,3}$", "aaaa"));
  CHECK_FALSE(fits("((((", "x"));
  CHECK_FALSE(fits(R"(\1)", "1"));
  CHECK_FALSE(fits("(a*)*b", std::string(60, 'a')));  // gives up instead of taking for ever
}

TEST_CASE("module patterns: names are compared part by part", "[model]") {
  CHECK(has_module_path("model.layers.0.mlp.gate", "mlp.gate"));
  CHECK_FALSE(has_module_path("model.layers.0.mlp.gate_proj", "mlp.gate"));
  CHECK_FALSE(has_module_path("model.layers.0.mlp.gate", ""));
  MatchBudget budget;
  CHECK(glob_matches("model.layers.0*", "model.layers.0.mlp", budget));
  CHECK_FALSE(glob_matches("model.layers.0*", "model.layers.10.mlp", budget));
  CHECK(glob_matches("*.mlp.?p_proj", "model.layers.0.mlp.up_proj", budget));
}

TEST_CASE("stored scheme: modules that rules name keep 16 bit, a part of the layers on average", "[model]") {
  struct Row {
    const char* group;
    const char* rules;
    double bits;
  };
  // Llama 3.1 8B in int8-wo (8 bits): 32 layers.
  const auto row = GENERATE(values<Row>({
      {"layers.*.attention.q", "", 8},
      {"layers.*.attention.q", "self_attn", 16},
      {"layers.*.attention.q", "model.layers.*.self_attn", 16},
      {"layers.*.attention.q", "re:.*self_attn.*", 16},
      {"layers.*.attention.q", "re:language_model\\.model\\.layers\\..*", 16},
      {"layers.*.attention.q", "mlp", 8},
      {"layers.*.attention.q", "mtp.layers.0.self_attn visual.blocks.0.attn", 8},
      {"layers.*.mlp.gate_up", "mlp.gate", 8},       // a router's name
      {"layers.*.mlp.gate_up", "up_proj", 12},       // one of the two matrices
      {"layers.*.mlp.gate_up", "gate_up_proj", 16},  // fused
      {"layers.*.mlp.down", "model.language_model.layers.3.mlp.down_proj.weight", 8 + 8.0 / 32},
      {"layers.*.mlp.down", "backbone.layers.3* model.layers.4.mlp*", 8 + 4 * 8.0 / 32},  // 3, 30, 31 and 4
      {"layers.*.mlp.down", "*=fp8 lm_head", 8},
      {"head", "lm_head", 16},
      {"head", "lm_head=int8-wo", 8},
      {"embedding", "*", 16},
  }));
  CAPTURE(row.group, row.rules);
  CHECK(bits_of("llama-3.1-8b", row.group, "int8-wo", row.rules) == Approx(row.bits).epsilon(1e-3));
}

TEST_CASE("stored scheme: experts and dense layers stand where the architecture says", "[model]") {
  // DeepSeek-V3: the first 3 of 61 layers are dense.
  CHECK(bits_of("deepseek-v3", "layers.*.mlp.down", "nvfp4",
                "model.layers.0.mlp model.layers.1.* model.layers.2.mlp.down_proj") == Approx(16));
  CHECK(bits_of("deepseek-v3", "layers.*.experts.*.down", "nvfp4",
                "model.layers.0* model.layers.1.* model.layers.2.*") == Approx(4));
  CHECK(bits_of("deepseek-v3", "layers.*.experts.*.down", "nvfp4", "model.layers.3.mlp.experts") > 4);
}

TEST_CASE("stored scheme: rules from strangers take bounded time", "[model]") {
  const Architecture a = architecture("deepseek-v3");
  const auto tensors = tensors_of(a);
  std::vector<ModuleRule> rules(20000, {"*a*a*a*a*a*a*a*b", {}});
  rules.push_back({"re:(((.*)*)*)*x", {}});
  const Scheme stored = resolve_scheme(scheme("fp8"), a, tensors, rules);
  CHECK(weights_bytes(tensors, stored) > Bytes{});
}

TEST_CASE("stored scheme: a GGUF file is its tensors and its metadata", "[model]") {
  for (const char* model : {"llama-3.1-70b", "qwen2.5-0.5b", "mixtral-8x7b", "deepseek-v3", "gemma-3-27b"}) {
    const Architecture a = architecture(model);
    const auto tensors = tensors_of(a);
    for (const GgmlFileTypeTraits& row : ggml_file_types()) {
      CAPTURE(model, row.name);
      const Scheme stored = resolve_scheme(scheme("gguf:" + std::string(row.name)), a, tensors);
      const Bytes file = weights_bytes(tensors, stored) + gguf_metadata_bytes(a, tensors);
      CHECK(file / gguf_file_bytes(a, tensors, row.type) == Approx(1).epsilon(1e-12));
    }
  }
}

TEST_CASE("stored scheme: quantizers leave towers beside a language model alone", "[model]") {
  Network network = network_of(architecture("llama-3.1-8b"));
  NetworkPart tower;
  tower.name = "vision_tower";
  TensorGroup matrix;
  matrix.name = "layers.*.mlp.down";
  matrix.role = TensorRole::mlp;
  matrix.rows = matrix.columns = 1024;
  tower.tensors.push_back(matrix);
  network.parts.push_back(tower);
  const double plain = 2.0 * 1024 * 1024;
  const auto tower_bytes = [&](std::string_view format, std::string_view rules) {
    return weights_bytes(tower.tensors, part_scheme(network, network.parts.back(), scheme(format), rules_of(rules))) /
           bytes(1);
  };
  CHECK(tower_bytes("int4-awq-g128", "") == Approx(plain));
  CHECK(tower_bytes("nf4", "") < plain / 3);
  CHECK(tower_bytes("nf4", "visual") == Approx(plain));
  network.parts.back().format = "fp32";
  CHECK(tower_bytes("nf4", "") == Approx(2 * plain));
  network.parts.back().loaded = false;
  const Bytes decoder_alone = weights_bytes(network_of(architecture("llama-3.1-8b")), scheme("bf16"));
  CHECK(weights_bytes(network, scheme("bf16")) / decoder_alone == Approx(1).epsilon(1e-12));
}

TEST_CASE("stored scheme: sizes of published checkpoints", "[model]") {
  for (const auto& row : testing::reference_table("checkpoints.csv")) {
    CAPTURE(row.at("checkpoint"), row.at("scheme"), row.at("source"));
    const Architecture a = architecture(row.at("model"));
    const auto tensors = tensors_of(a);
    const Scheme stored = resolve_scheme(scheme(row.at("scheme")), a, tensors, rules_of(row.at("rules")));
    const double got = weights_bytes(tensors, stored) / bytes(1);
    CHECK(got == Approx(testing::number(row, "value")).epsilon(testing::number(row, "tolerance")));
  }
}
