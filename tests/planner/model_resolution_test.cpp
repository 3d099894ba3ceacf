// A model given by its own files.

#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/planner/estimate.hpp>

#include "catalogues.hpp"
#include "catch.hpp"

#include <string>
#include <string_view>

namespace gpuplan::testing {
namespace {

constexpr const char* kTinyConfig =
    R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000,
        "max_position_embeddings": 8192, "tie_word_embeddings": false, "torch_dtype": "float16"})";

// One tensor of `size` bytes: a length of eight bytes, the header, the data.
std::string safetensors(std::size_t size) {
  const std::string header = R"({"w": {"dtype": "U8", "shape": [)" + std::to_string(size) +
                             R"(], "data_offsets": [0, )" + std::to_string(size) + "]}}";
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return file + header + std::string(size, '\0');
}

ServedModel serve(const std::string& path, ModelIdentity& identity, const char* dtype = nullptr) {
  JobSpec job;
  job.model = {path, false};
  if (dtype) job.dtype = {dtype, false};
  return serve_model(built_in(), job, {}, identity);
}

bool warns(const ModelIdentity& identity, std::string_view id) {
  for (const Warning& warning : identity.warnings) {
    if (warning.id == id) return true;
  }
  return false;
}

}  // namespace

// 2 layers of 64·64 + 2·32·64 + 64·64 attention, 3·64·128 MLP, 2·64 norms; 2·1000·64 embeddings, 64 final norm.
TEST_CASE("model: a folder with a config.json is read as what it says", "[planner]") {
  const Folder folder;
  folder.write("config.json", kTinyConfig);
  ModelIdentity identity;
  const ServedModel model = serve(folder.path(), identity);
  CHECK(parameters(model.tensors) == 2 * (12288 + 24576 + 128) + 128000 + 64);
  CHECK(model.scheme.name == "fp16");
  CHECK(identity.source == folder.path());
  CHECK_FALSE(model.stored);
  CHECK(weights_of(model) / bytes(2) == Approx(202048));
}

TEST_CASE("model: keys apart from values are refused where they are not of one width", "[planner]") {
  const auto cached = [](const char* name, const char* kv) {
    JobSpec job;
    job.model = {name, false};
    job.kv_dtype = {kv, false};
    ModelIdentity identity;
    const ServedModel model = serve_model(built_in(), job, {}, identity);
    return kv_bytes_per_token(model.architecture, model.kv->element) / bytes(1);
  };
  CHECK(cached("llama-3.1-8b", "q8_0/q4_0") == Approx(32 * 8 * 128 * (34.0 + 18.0) / 32));
  for (const char* name : {"deepseek-v3", "mimo-v2-flash"}) {  // a latent; keys of 192 and values of 128
    CAPTURE(name);
    const auto problems = problems_of([&] { cached(name, "q8_0/q4_0"); });
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].place->origin == "--kv-dtype");
    CHECK(problems[0].nearest == "q8_0");
  }
}

TEST_CASE("model: the files' headers decide what the weights take", "[planner]") {
  const Folder folder;
  folder.write("config.json", kTinyConfig);
  folder.write("model.safetensors", safetensors(500000));
  ModelIdentity identity;
  CHECK(weights_of(serve(folder.path(), identity)) / bytes(1) == Approx(500000));
  CHECK(warns(identity, "model.weights_differ"));  // 500,000 bytes where 404,096 are counted
}

TEST_CASE("model: another format than the files' own is counted", "[planner]") {
  const Folder folder;
  folder.write("config.json", kTinyConfig);
  folder.write("model.safetensors", safetensors(500000));
  ModelIdentity identity;
  CHECK(weights_of(serve(folder.path(), identity, "fp32")) / bytes(4) == Approx(202048));
}

TEST_CASE("model: an index without its shards is counted, with a warning", "[planner]") {
  const Folder folder;
  folder.write("config.json", kTinyConfig);
  folder.write("model.safetensors.index.json",
               R"({"metadata": {"total_size": 404096}, "weight_map": {"w": "model-00001-of-00001.safetensors"}})");
  ModelIdentity identity;
  CHECK(weights_of(serve(folder.path(), identity)) / bytes(2) == Approx(202048));
  CHECK(warns(identity, "model.no_weights"));
}

TEST_CASE("model: what no family reads is refused by name", "[planner]") {
  const Folder folder;
  folder.write("config.json",
               R"({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 512})");
  ModelIdentity identity;
  CHECK(problems_of([&] { (void)serve(folder.path(), identity); }).front().id == "model.not_modelled");
}

TEST_CASE("model: a path that is not there is said with its place", "[planner]") {
  ModelIdentity identity;
  CHECK(problems_of([&] { (void)serve("./no-such/config.json", identity); }).front().id == "input.not_found");
}

}  // namespace gpuplan::testing
