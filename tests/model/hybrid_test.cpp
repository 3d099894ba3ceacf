#include <gpuplan/model/config.hpp>
#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/operators.hpp>
#include <gpuplan/model/tensors.hpp>

#include "catch.hpp"
#include "support.hpp"

#include <cstdint>
#include <string>

namespace gpuplan {
namespace {

ModelConfig read(const std::string& name) {
  return read_model_config_file(std::string(GPUPLAN_SOURCE_DIR) + "/tests/data/configs/families/" + name + ".json");
}
ModelConfig read_text(const std::string& json) {
  const testing::Folder folder;
  return read_model_config_file(folder.write("config.json", json));
}
Architecture decoder(const std::string& name) {
  const ModelConfig config = read(name);
  REQUIRE(config.network.decoder);
  return *config.network.decoder;
}

double state(const Architecture& a) { return state_bytes(a) / bytes(1); }
double kv_elements(const Architecture& a) { return kv_bytes_per_token(a, bytes(1)) / bytes(1); }

double decode_flops(const Architecture& a, double context) {
  double flops = 0;
  for (const Operator& op : operators_of(a, parse_scheme("bf16").value.value(), *parse_kv_format("bf16").value.value(),
                                         {Phase::decode, 1, 1, context, 1}, {}))
    flops += op.count * op.flops.base();
  return flops;
}

std::int64_t prediction(const std::string& name) {
  const ModelConfig config = read(name);
  const NetworkPart* part = find_part(config.network, "prediction");
  if (!part) return 0;
  CHECK_FALSE(part->loaded);
  CHECK(parameters(config.network) == parameters(tensors_of(*config.network.decoder)));  // not counted
  CHECK(check_part(*part).empty());
  return parameters(part->tensors);
}

}  // namespace

TEST_CASE("hybrid: only layers with attention keep keys and values", "[hybrid]") {
  struct Row {
    const char* name;
    double elements;  // a token
  };
  const auto row = GENERATE(values<Row>({
      {"mamba-2.8b", 0},
      {"jamba-v0.1", 4 * 2 * 8 * 128},
      {"nemotron-h-56b", 10 * 2 * 8 * 128},
      {"nemotron-3-nano-30b-a3b", 6 * 2 * 2 * 128},
      {"qwen3-next-80b-a3b", 12 * 2 * 2 * 256},
      {"qwen3.5-27b-text", 16 * 2 * 4 * 256},
      {"minimax-text-01", 10 * 2 * 8 * 128},
      {"kimi-linear-48b-a3b", 7 * 576},
      {"lfm2-1.2b", 6 * 2 * 8 * 64},
      {"falcon-h1-0.5b", 36 * 2 * 2 * 64},  // beside Mamba-2 in every layer
      {"granite-4.0-h-tiny", 4 * 2 * 4 * 128},
      {"nemotron-super-49b", 49 * 2 * 8 * 128},  // of 80 layers
      {"deepseek-v3.2", 61 * (576 + 128)},       // latent, and the indexer's key
      {"glm-5.2", 78 * 576 + 21 * 128},          // 57 layers take the choice of another
      {"minimax-m3-text", 60 * 2 * 4 * 128 + 57 * 128},
      {"gemma-4-26b-a4b-text", 25 * 2 * 8 * 256 + 5 * 2 * 2 * 512},
      {"gemma-3n-e4b-text", 20 * 2 * 2 * 256},  // 15 of 35 layers read an earlier one's
      {"mimo-v2-flash", 9 * 4 * (192 + 128) + 39 * 8 * (192 + 128)},
  }));
  CAPTURE(row.name);
  CHECK(kv_elements(decoder(row.name)) == Approx(row.elements));
}

TEST_CASE("hybrid: a sequence carries fp32 states and 16-bit convolutions", "[hybrid]") {
  struct Row {
    const char* name;
    double bytes;
  };
  const auto row = GENERATE(values<Row>({
      // layers * (state of fp32 + (kernel - 1) positions of 2 bytes)
      {"mamba-2.8b", 64.0 * (5120 * 16 * 4 + 3 * 5120 * 2)},
      {"jamba-v0.1", 28.0 * (8192 * 16 * 4 + 3 * 8192 * 2)},
      {"mamba-codestral-7b", 64.0 * (128 * 64 * 128 * 4 + 3 * (8192 + 2 * 8 * 128) * 2)},
      {"nemotron-h-56b", 54.0 * (256 * 64 * 256 * 4 + 3 * (16384 + 2 * 8 * 256) * 2)},
      {"nemotron-3-nano-30b-a3b", 23.0 * (64 * 64 * 128 * 4 + 3 * (4096 + 2 * 8 * 128) * 2)},
      {"qwen3-next-80b-a3b", 36.0 * (32 * 128 * 128 * 4 + 3 * (2 * 2048 + 4096) * 2)},
      {"kimi-linear-48b-a3b", 20.0 * (32 * 128 * 128 * 4 + 3 * 3 * 4096 * 2)},
      {"minimax-text-01", 70.0 * (64 * 128 * 128 * 4)},
      {"lfm2-1.2b", 10.0 * (2 * 2048 * 2)},
      {"recurrentgemma-2b", 18.0 * (2560 * 4 + 3 * 2560 * 2)},
      {"rwkv-7-world-1.5b", 24.0 * (2048 * 64 * 4 + 2 * 2048 * 2)},  // two shifted tokens
      {"nemotron-super-49b", 0},
  }));
  CAPTURE(row.name);
  CHECK(state(decoder(row.name)) == Approx(row.bytes));
}

TEST_CASE("hybrid: active parameters as published", "[hybrid]") {
  struct Row {
    const char* name;
    double least, most;  // billions, embeddings included
  };
  const auto row = GENERATE(values<Row>({
      {"qwen3-next-80b-a3b", 3.0, 4.0},
      {"nemotron-3-nano-30b-a3b", 3.2, 3.6},
      {"nemotron-3-super-120b-a12b", 12, 13},
      {"minimax-text-01", 48.3, 48.5},  // published 45.9 without embedding and head, 2 * 200064 * 6144
      {"kimi-linear-48b-a3b", 3.0, 3.6},
      {"jamba-v0.1", 11.9, 12.2},
      {"granite-4.0-h-tiny", 0.9, 1.5},
      {"glm-5.1", 40, 44},
      {"step-3.7-flash-text", 10.5, 12},
      {"gemma-4-26b-a4b-text", 3.6, 4.2},
      {"lfm2-8b-a1b", 1.4, 1.6},
      {"dots.llm1", 13.5, 15},
      {"ernie-4.5-21b-a3b", 2.8, 3.4},
      {"hunyuan-a13b", 12.5, 14},
      {"ling-mini-2.0", 1.4, 2.1},
      {"minimax-m3-text", 20, 30},
  }));
  CAPTURE(row.name);
  const double active = static_cast<double>(active_parameters(decoder(row.name))) / 1e9;
  CHECK(active >= row.least);
  CHECK(active <= row.most);
}

TEST_CASE("hybrid: a first token costs two FLOPs a parameter that it meets", "[hybrid]") {
  for (const char* name :
       {"mamba-2.8b", "jamba-v0.1", "nemotron-h-56b", "nemotron-3-nano-30b-a3b", "qwen3-next-80b-a3b",
        "minimax-text-01", "kimi-linear-48b-a3b", "lfm2-1.2b", "recurrentgemma-2b", "deepseek-v3.2",
        "rwkv-7-world-1.5b", "nemotron-super-49b", "gemma-4-26b-a4b-text", "step-3.7-flash-text", "mimo-v2-flash",
        "minimax-m3-text", "opt-350m", "kimi-k3-text"}) {
    CAPTURE(name);
    const Architecture a = decoder(name);
    const double tables = static_cast<double>(a.tied_embeddings ? 0 : a.vocab * a.hidden);  // looked up
    const double expected = 2 * (static_cast<double>(active_parameters(a)) - tables);
    CHECK(decode_flops(a, 0) / expected == Approx(1).margin(0.03));  // scans, norms' vectors
  }
}

TEST_CASE("hybrid: scans do not grow with the context, attention beside them does", "[hybrid]") {
  const Architecture mamba = decoder("mamba-2.8b");
  CHECK(decode_flops(mamba, 1e5) == Approx(decode_flops(mamba, 10)));
  const Architecture jamba = decoder("jamba-v0.1");
  // four layers with 32 heads of 128: scores and weighted sums
  CHECK(decode_flops(jamba, 1e5) - decode_flops(jamba, 0) == Approx(1e5 * 4 * 2 * 32 * 2 * 128));
}

TEST_CASE("hybrid: sparse attention scores every token and attends to the chosen ones", "[hybrid]") {
  const Architecture a = decoder("deepseek-v3.2");
  // beyond the 2048 chosen only the indexer's 64 heads of 128 grow
  CHECK(decode_flops(a, 60000) - decode_flops(a, 30000) == Approx(30000.0 * 61 * 2 * 64 * 128));
}

TEST_CASE("hybrid: layers for multi-token prediction are a part that is not loaded", "[hybrid]") {
  // A decoder layer with experts, 2h x h and three norms, 257 MLPs of three matrices 7168 x 2048 in it: by Python over the
  // published tensor names.
  CHECK(prediction("deepseek-v3") == 11610068224);
  CHECK(prediction("glm-5.1") == 753864139008 - 743911218432);   // safetensors of zai-org/GLM-5.1 less the layers
  CHECK(prediction("mimo-7b-base") == 7833409536 - 7622619136);  // safetensors of the repository
  CHECK(prediction("qwen3.5-35b-a3b-text") == 844640768);        // 35951822704 with the tower's 446571248
  // zai-org/GLM-4.5 holds 358337791296, of which the copies of embedding and head are 2 * 151552 * 5120.
  CHECK(prediction("glm-4.5") == 358337791296 - 352797829024 - 2LL * 151552 * 5120);
  CHECK(prediction("glm-4.7-flash") == 31221488576 - 29943393920 - 2LL * 154880 * 2048);
  CHECK(prediction("qwen3-next-80b-a3b") == 0);  // its config does not tell
  CHECK(prediction("mimo-v2-flash") == 0);
  CHECK(read("mimo-v2-flash").not_modelled.empty());
  CHECK(read("nemotron-3-nano-30b-a3b").not_modelled.empty());
}

TEST_CASE("hybrid: a family without a published form says that it leaves prediction out", "[hybrid]") {
  const ModelConfig config = read("minimax-m3-text");
  REQUIRE(config.not_modelled.size() == 1);
  CHECK(config.not_modelled[0].find("multi-token prediction") != std::string::npos);
}

TEST_CASE("hybrid: what cannot be is refused or said", "[hybrid]") {
  // hostile sizes: no overflow, no architecture
  CHECK_THROWS(
      read_text(R"({"model_type": "mamba2", "hidden_size": 999999999, "num_hidden_layers": 9999, "vocab_size": 9,
                             "num_heads": 999999999, "head_dim": 999999999, "n_groups": 999999999})"));
  CHECK_THROWS(read_text(R"({"model_type": "rwkv7", "hidden_size": 1000000, "num_hidden_layers": 10000, "vocab_size": 9,
                             "decay_low_rank_dim": 1000000000, "a_low_rank_dim": 1, "v_low_rank_dim": 1, "gate_low_rank_dim": 1})"));
  const ModelConfig letters = read_text(
      R"({"model_type": "nemotron_h", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 9, "num_attention_heads": 1,
          "mamba_num_heads": 1, "mamba_head_dim": 1, "n_groups": 1, "ssm_state_size": 1, "hybrid_override_pattern": "MX"})");
  CHECK_FALSE(letters.network.decoder);
  CHECK_THROWS(read_text(
      R"({"model_type": "nemotron_h", "hidden_size": 64, "num_hidden_layers": 3, "vocab_size": 9, "num_attention_heads": 1,
          "mamba_num_heads": 1, "mamba_head_dim": 1, "n_groups": 1, "ssm_state_size": 1, "hybrid_override_pattern": "M"})"));
  CHECK_FALSE(read_text(R"({"model_type": "jamba"})").network.decoder);
  CHECK_FALSE(read_text(R"({"model_type": "openelm", "num_transformer_layers": 4, "model_dim": 64, "vocab_size": 9,
                            "head_dim": 16, "num_query_heads": [1], "num_kv_heads": [1], "ffn_multipliers": [1]})")
                  .network.decoder);
}

TEST_CASE("hybrid: narrow embeddings are projected in and out", "[hybrid]") {
  const Architecture a = decoder("opt-350m");
  CHECK(a.embedding_width == 512);
  CHECK_FALSE(a.final_norm);
  CHECK(parameters(tensors_of(a)) == 331196416);  // facebook/opt-350m
}

}  // namespace gpuplan
