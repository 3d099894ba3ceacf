// Models by their own files, of every kind.

#include "catch.hpp"
#include "small_models.hpp"

#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/model_files.hpp>

#include <filesystem>
#include <string>
#include <vector>

using namespace gpuplan;
using gpuplan::testing::Folder;
using gpuplan::testing::GgufBuilder;
using gpuplan::testing::half_precision;
using gpuplan::testing::kTinyConfig;
using gpuplan::testing::kTinyGguf;
using gpuplan::testing::kTinyParameters;
using gpuplan::testing::problems_of;
using gpuplan::testing::safetensors_file;
using gpuplan::testing::tiny_gguf;

TEST_CASE("model files: safetensors without a configuration are counted by their names", "[model]") {
  const Folder folder;
  folder.write("model.safetensors", half_precision({{"encoder.layers.0.w", {4, 8}},
                                                    {"encoder.layers.1.w", {4, 8}},
                                                    {"encoder.norm", {8}},
                                                    {"decoder.conv", {2, 3, 5}}}));
  const ModelFiles files = read_model_file(folder.path());
  REQUIRE(files.config.network.parts.size() == 2);
  CHECK(parameters(files.config.network) == 64 + 8 + 30);
  CHECK(files.parameters == 102);
  CHECK(files.stored->total_size() == 204);
  const NetworkPart* encoder = find_part(files.config.network, "encoder");
  REQUIRE(encoder);
  REQUIRE(encoder->tensors.size() == 2);
  CHECK(encoder->tensors[0].name == "encoder.layers.*.w");
  CHECK(encoder->tensors[0].count == 2);
  CHECK_FALSE(files.config.network.decoder);
}

TEST_CASE("model files: a pipeline's components are read from their folders", "[model]") {
  const Folder folder;
  folder.write("model_index.json",
               R"({"_class_name": "SomePipeline", "text_encoder": ["transformers", "LlamaForCausalLM"],
                   "scheduler": ["diffusers", "S"], "vae": [null, null]})");
  std::filesystem::create_directories(folder.path("text_encoder"));
  std::filesystem::create_directories(folder.path("scheduler"));
  folder.write("text_encoder/config.json", kTinyConfig);
  folder.write("text_encoder/model.safetensors", half_precision({{"w", {10, 10}}}));
  folder.write("scheduler/scheduler_config.json", "{}");
  const ModelFiles files = read_model_file(folder.path());
  REQUIRE(files.config.network.parts.size() == 1);
  CHECK(files.config.network.parts[0].name == "text_encoder");
  CHECK(parameters(files.config.network) == kTinyParameters);
  REQUIRE(files.stored);
  CHECK(files.stored->tensors.at(0).name == "text_encoder/w");
  CHECK(files.stored->total_size() == 200);
}

TEST_CASE("model files: GGUF's metadata and tensors give the decoder", "[model]") {
  const Folder folder;
  GgufBuilder b = tiny_gguf();
  const std::string path = folder.write("tiny.gguf", b.build(2 * kTinyGguf + 4096));
  const ModelFiles files = read_model_file(path);
  REQUIRE(files.config.network.decoder);
  const Architecture& a = *files.config.network.decoder;
  CHECK(a.name == "Tiny");
  CHECK(a.layers == 2);
  CHECK(a.kv_heads == 2);
  CHECK(a.head_dim == 64);
  CHECK(a.gated_mlp);
  CHECK(a.tied_embeddings);
  CHECK(a.max_position == 4096);
  CHECK(a.native_format == "gguf:F16");
  CHECK(parameters(files.config.network) == kTinyGguf);
  CHECK(files.parameters == kTinyGguf);
  CHECK(kv_bytes_per_token(a, bytes(2)) / bytes(1) == Approx(2 * 2 * 2 * 64 * 2));
}

TEST_CASE("model files: of several GGUF files one must be chosen", "[model]") {
  const Folder folder;
  folder.write("tiny-Q4_K.gguf", tiny_gguf().build(2 * kTinyGguf + 4096));
  folder.write("tiny-Q4_K_M.gguf", tiny_gguf().build(2 * kTinyGguf + 4096));
  CHECK(problems_of([&] { (void)read_model_file(folder.path()); }).front().id == "input.ambiguous_name");
  const auto files = open_folder(folder.path());
  CHECK(read_model_files(*files, "q4_k_m").parameters == kTinyGguf);
  CHECK(read_model_files(*files, "Q4_K").parameters == kTinyGguf);  // the one that ends so
  CHECK(problems_of([&] { (void)read_model_files(*files, "Q8_0"); }).front().id == "input.unknown_name");
}

TEST_CASE("model files: a vocabulary alone is no network", "[model]") {
  const Folder folder;
  GgufBuilder b;
  b.string("general.architecture", "llama").u32("llama.block_count", 2).u32("llama.embedding_length", 64);
  b.u32("llama.vocab_size", 100);
  const ModelFiles files = read_model_file(folder.write("vocab.gguf", b.build()));
  CHECK_FALSE(files.config.network.decoder);
  REQUIRE(files.config.not_modelled.size() == 1);
}

TEST_CASE("model files: a folder without anything of a model says what it looked for", "[model]") {
  const Folder folder;
  folder.write("README", "nothing");
  const auto problems = problems_of([&] { (void)read_model_file(folder.path()); });
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].id == "input.not_found");
  folder.write("saved_model.pb", "x");
  CHECK(problems_of([&] { (void)read_model_file(folder.path()); }).front().id == "input.unsupported");
}

TEST_CASE("model files: sparse files of hundreds of gigabytes cost their headers", "[model]") {
  const Folder folder;
  constexpr std::int64_t rows = 1 << 20;
  constexpr std::int64_t columns = 4096 * 12;  // 96 GiB in bf16
  std::string map;
  for (int shard = 1; shard <= 4; ++shard) {
    const std::string name = "model-0000" + std::to_string(shard) + "-of-00004.safetensors";
    const std::uint64_t size = static_cast<std::uint64_t>(rows) * columns * 2;
    const std::string tensor = "w" + std::to_string(shard);
    const std::string header = "{\"" + tensor + "\":{\"dtype\":\"BF16\",\"shape\":[" + std::to_string(rows) + "," +
                               std::to_string(columns) + "],\"data_offsets\":[0," + std::to_string(size) + "]}}";
    const std::string file = safetensors_file(header, 0);
    folder.write(name, file);
    std::filesystem::resize_file(folder.path(name), file.size() + size);
    map += (shard > 1 ? "," : "") + ("\"" + tensor + "\":\"" + name + "\"");
  }
  folder.write("model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
  const ModelFiles files = read_model_file(folder.path());
  CHECK(files.stored->total_size() == 4 * rows * columns * 2);
  CHECK(files.weight_files == 4);
}

TEST_CASE("model files: GGUF beside the configuration of what it was made from says what is stored", "[model]") {
  const Folder folder;
  folder.write("config.json", kTinyConfig);
  folder.write("tiny-F16.gguf", tiny_gguf().build(2 * kTinyGguf + 4096));
  CHECK(read_model_file(folder.path()).parameters == kTinyGguf);
  folder.write("tiny-Q8_0.gguf", tiny_gguf().build(2 * kTinyGguf + 4096));
  const ModelFiles several = read_model_file(folder.path());
  CHECK_FALSE(several.stored);
  CHECK(parameters(several.config.network) == kTinyParameters);
  REQUIRE(several.config.warnings.size() == 1);
  CHECK(several.config.warnings[0].id == "model.no_weights");
}

TEST_CASE("model files: positions and counters are no weights", "[model]") {
  const Folder folder;
  folder.write("model.safetensors",
               safetensors_file(R"({"w": {"dtype": "F32", "shape": [4, 5], "data_offsets": [0, 80]},
                                    "position_ids": {"dtype": "I64", "shape": [1, 3], "data_offsets": [80, 104]}})",
                                104));
  CHECK(read_model_file(folder.path()).parameters == 20);
}

TEST_CASE("model files: packed tensors that nothing describes are counted with a warning", "[model]") {
  const Folder folder;
  const std::string path = folder.write(
      "packed.safetensors",
      safetensors_file(R"({"a.qweight": {"dtype": "I32", "shape": [4, 5], "data_offsets": [0, 80]}})", 80));
  for (const std::string& from : {path, folder.path()}) {
    const ModelFiles files = read_model_file(from);
    CHECK(files.parameters == 0);
    CHECK(files.stored->total_size() == 80);
    REQUIRE(files.config.warnings.size() == 1);
    CHECK(files.config.warnings[0].id == "model.packed_weights");
  }
}
