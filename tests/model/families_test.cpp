#include "model/families/family.hpp"

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/base/text.hpp>
#include <gpuplan/base/units.hpp>
#include <gpuplan/model/config.hpp>
#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/network.hpp>
#include <gpuplan/model/scheme.hpp>
#include <gpuplan/model/stored_scheme.hpp>
#include <gpuplan/model/tensors.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "csv_table.hpp"

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace gpuplan {
namespace {

std::string fixture(const std::string& name) {
  return std::string(GPUPLAN_SOURCE_DIR) + "/tests/data/configs/families/" + name + ".json";
}

std::string real_file(const std::string& name) {
  return (std::filesystem::path(GPUPLAN_SOURCE_DIR) / ".." / "shared" / "real" / name).string();
}

double kv(const Architecture& a) { return kv_bytes_per_token(a, bytes(2)) / bytes(1); }

/// Published differences between a config and the preset of that name.
double known_difference(const std::string& preset) {
  // The checkpoint stores its head although its config ties it to the embedding: 65024 x 14848.
  return preset == "falcon-180b" ? 965476352.0 : 0.0;
}

void check_against(const ModelPreset& preset, const ModelConfig& config) {
  CAPTURE(preset.name);
  const Architecture wanted = architecture_of(preset);
  const double counted = static_cast<double>(parameters(config.network)) + known_difference(std::string(preset.name));
  CHECK(counted == static_cast<double>(parameters(tensors_of(wanted))));
  CHECK(kv(*config.network.decoder) == kv(wanted));
  CHECK(config.network.decoder->windowed_layers == wanted.windowed_layers);
  CHECK(config.network.decoder->window == wanted.window);
  CHECK(config.network.decoder->layers == wanted.layers);
  CHECK(config.network.decoder->experts_per_token == wanted.experts_per_token);
  CHECK(config.network.decoder->parallel_blocks == wanted.parallel_blocks);
}

struct Published {
  const char* name;  // of the fixture, and of a preset where there is one
  std::int64_t parameters;
};
// Without a remark the count is that of data/models.yaml.
constexpr Published kPublished[] = {
    {"llama-3.1-8b", 8030261248LL},
    {"llama-3.2-1b", 1235814400LL},
    {"exaone-3.0-7.8b", 7818448896LL},  // published, from memory
    {"granite-3.1-8b", 8170848256LL},   // published, from memory
    {"smollm3-3b", 3075098624LL},       // published, from memory
    {"seed-oss-36b", 36151104512LL},    // published, from memory
    {"ernie-4.5-0.3b", 360748032LL},    // published, from memory
    {"llama-4-maverick", 400711848960LL},
    {"mistral-7b", 7241732096LL},
    {"mixtral-8x7b", 46702792704LL},
    {"qwen-7b", 7721324544LL},
    {"qwen2.5-7b", 7615616512LL},
    {"qwen1.5-moe-a2.7b", 14315784192LL},  // published, from memory
    {"qwen3-0.6b", 596049920LL},
    {"qwen3-30b-a3b", 30532122624LL},
    {"gemma-2b", 2506172416LL},
    {"gemma-2-9b", 9241705984LL},
    {"gemma-3-1b", 999885952LL},
    {"phi-2", 2779683840LL},
    {"phi-3-mini-4k", 3821079552LL},
    {"phi-3.5-moe", 41873153344LL},  // published, from memory
    {"falcon-7b", 6921720704LL},
    {"falcon-40b", 41303293952LL},
    {"gpt2", 124439808LL},
    {"wizardcoder-15b", 15517462528LL},
    {"gpt-neo-125m", 125198592LL},
    {"gpt-neox-20b", 20554567680LL},
    {"gpt-j-6b", 6050882784LL},
    {"gpt-oss-20b", 20914757184LL},
    {"opt-6.7b", 6658473984LL},
    {"bloom-560m", 559214592LL},     // shared/facts/models.csv
    {"bloom-176b", 176247271424LL},  // safetensors total_size / 2
    {"mpt-7b", 6649286656LL},
    {"deepseek-moe-16b", 16375728128LL},  // published, from memory
    {"deepseek-v2-lite", 15706484224LL},
    {"deepseek-v3", 671026419200LL},
    {"kimi-k2", 1026408232448LL},
    {"glm-4-9b", 9399951360LL},
    {"glm-4-9b-hf", 9399951360LL},
    {"glm-4-9b-0414", 9400279040LL},  // published, from memory
    {"glm-4.5", 352797829024LL},
    {"command-r-plus", 103810674688LL},
    {"command-r7b", 8028033024LL},  // published, from memory
    {"dbrx", 131596523520LL},
    {"olmo-7b", 6888095744LL},  // published, from memory
    {"olmo-2-7b", 7298617344LL},
    {"olmo-3-7b", 7298011136LL},             // published, from memory
    {"olmoe-1b-7b", 6919161856LL},           // published, from memory
    {"granite-3.1-1b-a400m", 1334628352LL},  // published, from memory
    {"grok-1", 315684820992LL},
    {"minimax-m2", 228689764864LL},  // published, from memory, without prediction layers
    {"starcoder2-3b", 3030371328LL},
    {"stablelm-3b", 2795443200LL},
    {"stablelm-2-1.6b", 1644515328LL},  // published, from memory
    {"internlm-7b", 7321948160LL},      // arithmetic: LLaMA-7B with 103168 words and four biases a layer
    {"internlm2.5-7b", 7737708544LL},
    {"baichuan2-7b", 7505973248LL},
    {"exaone-4.0-1.2b", 1279391488LL},  // published, from memory, as the next six
    {"dots.llm1", 142774381696LL},
    {"ernie-4.5-21b-a3b", 21825437888LL},
    {"hunyuan-a13b", 80393183232LL},
    {"hunyuan-1.8b", 1791080448LL},  // Python sum
    {"ling-mini-2.0", 16255643392LL},
    {"glm-4.7-flash", 29943393920LL},  // 31221488576 with the prediction layer and its copies of the tables
    // Layers with a state. Without a remark: the published count, and a Python sum over the published tensor names.
    {"mamba-2.8b", 2768345600LL},
    {"mamba-130m-hf", 129135360LL},
    {"falcon-mamba-7b", 7272665088LL},
    {"mamba-codestral-7b", 7285403648LL},
    {"jamba-v0.1", 51570323328LL},
    {"nemotron-h-56b", 56324350464LL},               // Python sum
    {"nemotron-3-nano-30b-a3b", 31577940288LL},      // 31577937344 in bf16, and 23 * 128 router corrections in fp32
    {"nemotron-3-super-120b-a12b", 120668707840LL},  // Python sum, experts on 1024 of 4096 dimensions
    {"bamba-9b", 9780235392LL},                      // Python sum, published as 9.78 B
    {"granite-4.0-h-tiny", 6939037248LL},
    {"falcon-h1-0.5b", 521411104LL},
    {"qwen3-next-80b-a3b", 79674391296LL},    // the safetensors' 81324862720 less the prediction layer
    {"qwen3.5-27b-text", 26895998464LL},      // Python sum
    {"qwen3.5-35b-a3b-text", 34660610688LL},  // the safetensors' 35951822704 less tower and prediction layer
    {"minimax-text-01", 456089655296LL},      // Python sum, published as 456 B
    {"kimi-linear-48b-a3b", 49122681728LL},
    {"kimi-k3-text", 2779484478208LL},  // Python sum, which gives the stored elements of the safetensors
    {"lfm2-1.2b", 1170340608LL},
    {"lfm2-8b-a1b", 8339930560LL},  // Python sum, published as 8.3 B
    {"recurrentgemma-2b", 2682862080LL},
    {"rwkv-4-169m", 169342464LL},
    {"rwkv-5-world-1b5", 1577754624LL},
    {"rwkv-6-world-1b6", 1599873024LL},
    {"rwkv-7-world-1.5b", 1527404544LL},
    // Layers that differ.
    {"nemotron-super-49b", 49867145216LL},
    {"openelm-270m", 271527168LL},
    {"gemma-3n-e4b-text", 6866696688LL},      // Python sum, published as 6.87 B
    {"gemma-4-26b-a4b-text", 25233141790LL},  // Python sum, published as 25.2 B
    {"minimax-m3-text", 426174572928LL},      // the safetensors' 427040140160 less tower and projector
    {"mimo-7b-base", 7622619136LL},           // the safetensors' 7833409536 less the prediction layer
    {"mimo-v2-flash", 308778780864LL},        // Python sum
    {"step-3.7-flash-text", 196956130368LL},  // Python sum
    {"deepseek-v3.2", 671877944064LL},        // Python sum
    {"glm-5.1", 743911218432LL},              // the safetensors' 753864139008 less the prediction layer
    {"glm-5.2", 743377019904LL},              // Python sum
    {"opt-350m", 331196416LL},
    {"minitron-4b",
     4190509056LL},  // arithmetic: 2*256000*3072 + 32*(2*3072*3072 + 2*1024*3072 + 2*3072*9216 + 4*3072) + 2*3072
};

// Text models that only come with a tower: the whole network, as the evaluation harness GIMMICK lists the sizes that the
// safetensors' headers give.
constexpr Published kWithTowers[] = {
    {"llama-3.2-11b-vision", 10670220835LL},
    {"minicpm-v-2.6", 8099175152LL},
};

double stored(const ModelConfig& config) {
  return weights_bytes(config.network, *parse_scheme(config.weights_scheme).value, config.module_rules) / gibibytes(1);
}

}  // namespace

TEST_CASE("families: a config alone gives the published number of parameters", "[model]") {
  for (const Published& row : kPublished) {
    CAPTURE(row.name);
    const ModelConfig config = read_model_config_file(fixture(row.name));
    REQUIRE(config.network.decoder);
    CHECK(parameters(config.network) == row.parameters);
    CHECK(parameters(tensors_of(*config.network.decoder)) == row.parameters);
    CHECK(config.warnings.empty());
    CHECK(config.text_part.empty());
  }
}

TEST_CASE("families: a text model with its tower gives the published number of parameters", "[model]") {
  for (const Published& row : kWithTowers) {
    CAPTURE(row.name);
    const ModelConfig config = read_model_config_file(fixture(row.name));
    REQUIRE(config.network.decoder);
    CHECK(parameters(config.network) == row.parameters);
    CHECK(config.warnings.empty());
  }
}

TEST_CASE("families: what a config gives is what its preset says", "[model]") {
  for (const Published& row : kPublished) {
    const ModelPreset* preset = testing::built_in().find_model(row.name);
    if (preset && preset->config.empty()) check_against(*preset, read_model_config_file(fixture(row.name)));
  }
}

TEST_CASE("families: every one has a fixture, and no name belongs to two", "[model]") {
  std::set<std::string> read;
  for (const Published& row : kPublished)
    read.insert(read_model_config_file(fixture(row.name)).network.decoder->family);
  for (const Published& row : kWithTowers)
    read.insert(read_model_config_file(fixture(row.name)).network.decoder->family);
  std::set<std::string> names;
  const auto take_words = [&](std::string_view words, const std::string& kind) {
    for (const std::string& word : split(words, ' ')) {
      CAPTURE(kind, word);
      CHECK(names.insert(kind + word).second);
    }
  };
  for (const FamilyRow& row : families()) {
    CAPTURE(row.name);
    CHECK(read.contains(std::string(row.name)));
    take_words(row.types, "type ");
    take_words(row.classes, "class ");
  }
  for (const NetworkRow& row : network_families()) {
    CAPTURE(row.name);
    CHECK(names.insert("network " + std::string(row.name)).second);
    for (const std::string& word : split(row.classes, ' ')) {
      CAPTURE(word);
      CHECK(names.insert("class " + word).second);
    }
  }
  for (const OtherRow& row : other_networks()) {
    CAPTURE(row.what);
    take_words(row.types, "type ");
    take_words(row.classes, "class ");
  }
}

TEST_CASE("families: MLA counts as published", "[model]") {
  const ModelConfig config = read_model_config_file(fixture("deepseek-v3"));
  CHECK(active_parameters(*config.network.decoder) == 37552297472);
  CHECK(kv(*config.network.decoder) == 61 * 576 * 2);
  CHECK(config.weights_scheme == "fp8-block");
  CHECK(config.not_modelled.empty());
  CHECK(find_part(config.network, "prediction") != nullptr);
}

// Expected: a Python sum over the tensors of the published checkpoints, which with the prediction layer and the scales
// gives the stored elements of both, 158069433298 and 861608274846 (two experts' weights an element). Published: 284 B with
// 13 B active, and 1.6 T with 49 B active.
TEST_CASE("families: DeepSeek-V4 is counted, and its cache is said not to be modelled", "[model]") {
  struct Row {
    const char* preset;
    std::int64_t parameters;
    double active;      // all but the tables that are looked up and the experts that are not chosen
    double gibibytes;   // of the checkpoint, with the prediction layer that is left out here
    double prediction;  // one layer's experts, 4.25 bits a weight
  };
  const auto row = GENERATE(values<Row>({
      // 7309176919 - 3 * 129280 * 6 - 129280 * 4096 + 277025390592 * 6 / 256
      {"deepseek-v4-flash", 284334567511, 13.270e9, 148.65, 3.19},
      // 25603342691 - 3 * 129280 * 6 - 129280 * 7168 + 1547396186112 * 6 / 384
      {"deepseek-v4-pro", 1572999528803, 48.853e9, 805.32, 12.55},
  }));
  CAPTURE(row.preset);
  const ModelPreset* preset = testing::built_in().find_model(row.preset);
  REQUIRE(preset);
  const ModelConfig config = read_model_preset(*preset);
  CHECK(parameters(config.network) == row.parameters);
  CHECK_FALSE(config.network.decoder);
  REQUIRE_FALSE(config.not_modelled.empty());
  CHECK(config.not_modelled[0] == "its compressed cache, so it cannot be served");
  Flop step;
  for (const NetworkPart& part : config.network.parts) step += flops_of(part, 1);
  CHECK(step / flop(2 * row.active) == Approx(1).epsilon(0.005));
  CHECK(stored(config) == Approx(row.gibibytes - row.prediction).epsilon(0.01));
}

TEST_CASE("families: what DeepSeek-V4's numbers cannot be", "[model]") {
  const ModelPreset* preset = testing::built_in().find_model("deepseek-v4-flash");
  REQUIRE(preset);
  const auto read_with = [&](const std::string& from, const std::string& to) {
    std::string text(preset->config);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    return read_model_config(parse_json(text, "config.json"), "config.json");
  };
  CHECK_THROWS_AS(read_with("\"o_groups\": 8", "\"o_groups\": 7"), InputError);
  CHECK_THROWS_AS(read_with("\"o_groups\": 8", "\"o_groups\": 0"), InputError);
  CHECK_THROWS_AS(read_with("\"num_experts_per_tok\": 6", "\"num_experts_per_tok\": 257"), InputError);
  CHECK_THROWS_AS(read_with("\"num_hidden_layers\": 43", "\"num_hidden_layers\": 45"), InputError);
  CHECK_THROWS_AS(read_with("\"hidden_size\": 4096", "\"hidden_size\": 1000000000"), InputError);
  CHECK(read_with("\"hc_mult\": 4", "\"hc_mult\": null").network.parts.empty());
}

TEST_CASE("families: every config seen in the wild is read or said not to be modelled", "[model]") {
  int decoders = 0;
  int others = 0;
  for (const testing::CsvRow& row : testing::csv_table(real_file("INDEX.csv"))) {
    const std::string& kind = row.at("kind");
    if (kind != "hf-config" && kind != "hf-config-reduced" && kind != "diffusers-config") continue;
    CAPTURE(row.at("path"));
    const ModelConfig config = read_model_config_file(real_file(row.at("path")));
    CHECK((!config.network.parts.empty() || !config.not_modelled.empty()));
    CHECK(config.network.parts.empty() == (parameters(config.network) == 0));
    for (const NetworkPart& part : config.network.parts) CHECK(check_part(part).empty());
    if (!config.network.decoder) {
      ++others;
      continue;
    }
    ++decoders;
    CHECK(kind != "diffusers-config");
    CHECK(parameters(config.network) > 0);
    CHECK(kv(*config.network.decoder) + state_bytes(*config.network.decoder) / bytes(1) > 0);
    CHECK(check_architecture(*config.network.decoder).empty());
    for (const char* other : {"T5", "Bert", "Whisper", "Florence", "CLIP", "OpenMoe"}) {
      CHECK(config.architecture_class.find(other) == std::string::npos);
    }
  }
  if (decoders + others == 0) return;  // the files are not shipped
  CHECK(decoders + others == 288);
  CHECK(decoders == 198);
}

TEST_CASE("families: a pipeline seen in the wild is the sum of its components", "[model]") {
  for (const testing::CsvRow& row : testing::csv_table(real_file("INDEX.csv"))) {
    const std::filesystem::path path = real_file(row.at("path"));
    if (path.filename() != "model_index.json") continue;
    CAPTURE(row.at("path"));
    std::int64_t sum = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path.parent_path())) {
      const std::filesystem::path config = entry.path() / "config.json";
      if (std::filesystem::exists(config)) sum += parameters(read_model_config_file(config.string()).network);
    }
    const ModelConfig pipeline = read_model_config_file(path.parent_path().string());
    CAPTURE(pipeline.not_modelled);
    CHECK(sum > 0);
    CHECK(parameters(pipeline.network) == sum);
  }
}

TEST_CASE("families: real configs give the sizes that the indexes of their checkpoints state", "[model]") {
  struct Row {
    const char* model;
    const char* index;
    double not_counted;  // parameters that the checkpoint stores beside those of its config
  };
  const auto row = GENERATE(values<Row>({
      {"bigscience--bloom", "bigscience--bloom.pytorch_model.bin.index.json", 0},
      {"mistralai--Devstral-Small-2507", "mistralai--Devstral-Small-2507.index.json", 0},
      // The head, which the config ties to the embedding: 65024 * 14848.
      {"tiiuae--falcon-180B-chat", "tiiuae--falcon-180B-chat.index.json", 965476352},
      {"mustafaaljadery--llama3v", "mustafaaljadery--llama3v.index.json", -1},  // not modelled
  }));
  const std::string index = real_file("safetensors/" + std::string(row.index));
  if (!std::filesystem::exists(index)) return;  // not shipped
  CAPTURE(row.model);
  const Node document = parse_json(read_text_file(index), index);
  const Node* metadata = document.find("metadata");
  REQUIRE(metadata);
  const auto bytes = whole_number_of(metadata->find("total_size"));
  REQUIRE(bytes);
  const ModelConfig config = read_model_config_file(real_file("configs/" + std::string(row.model) + ".json"));
  if (row.not_counted < 0) {
    CHECK(config.network.parts.empty());
    CHECK_FALSE(config.not_modelled.empty());
    return;
  }
  CHECK(2 * (static_cast<double>(parameters(config.network)) + row.not_counted) == static_cast<double>(*bytes));
}

TEST_CASE("families: real files of quantizers beside the real configs", "[model]") {
  for (const testing::CsvRow& row : testing::csv_table(real_file("INDEX.csv"))) {
    const std::string path = row.at("path");
    const std::string file = std::filesystem::path(path).filename().string();
    const std::size_t dashes = file.rfind("--");
    if (path.rfind("quant-configs/", 0) != 0 || dashes == std::string::npos) continue;
    const std::string config = real_file("configs/" + file.substr(0, dashes) + ".json");
    const bool is_modelopt = file.ends_with("--hf_quant_config.json");
    if (!is_modelopt || !std::filesystem::exists(config)) continue;
    CAPTURE(path);
    const testing::Folder folder;
    const std::string read = folder.write("config.json", read_text_file(config));
    (void)folder.write("hf_quant_config.json", read_text_file(real_file(path)));
    const ModelConfig found = read_model_config_file(read);
    CHECK(found.weights_scheme == (file.find("NVFP4") != std::string::npos ? "nvfp4" : "fp8"));
    CHECK(found.kv_format == "fp8");
  }
}

TEST_CASE("families: real configs of presets give the presets", "[model]") {
  int compared = 0;
  for (const testing::CsvRow& row : testing::csv_table(real_file("INDEX.csv"))) {
    if (row.at("kind") != "hf-config") continue;
    const std::string name = std::filesystem::path(row.at("path")).stem().string();
    const std::size_t dashes = name.find("--");
    if (dashes == std::string::npos) continue;
    const std::string model = name.substr(dashes + 2);
    const ModelPreset* preset = testing::built_in().find_model(name.substr(0, dashes) + "/" + model);
    if (!preset) preset = testing::built_in().find_model(model);
    if (!preset) continue;
    const ModelConfig config = read_model_config_file(real_file(row.at("path")));
    CAPTURE(row.at("path"));
    if (preset->config.empty()) {
      REQUIRE(config.network.decoder);
      check_against(*preset, config);
    } else {
      CHECK(parameters(config.network) == parameters(read_model_preset(*preset).network));
    }
    ++compared;
  }
  CHECK((compared == 0 || compared >= 25));
}

}  // namespace gpuplan
