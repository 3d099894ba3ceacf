// Models that are named as repositories, from a server on the loopback interface to what they weigh.

#include <gpuplan/planner/model_resolution.hpp>

#include "catalogues.hpp"
#include "catch.hpp"
#include "model/small_models.hpp"
#include "net/server.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gpuplan::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";  // of tests/net/server.py

/// Repositories' files, folders for caches, and a server that may go away.
struct Hub {
  Folder folder;
  std::vector<std::string> notices;
  std::optional<Server> server;
  bool offline = false;

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(folder.path(name)).parent_path());
    folder.write(name, text);
  }
  void serve() { server.emplace(std::vector<std::string>{"--folder", folder.path("served"), "--cdn"}); }
  HubAccess access() {
    return [this] {
      HubSettings settings;
      settings.endpoint = server ? server->url() : "http://127.0.0.1:9";
      settings.token = "hf_secret";
      settings.hub_cache = folder.path("hf/hub");
      settings.answers = folder.path("answers");
      settings.offline = offline;
      settings.notice = [this](const std::string& text) { notices.push_back(text); };
      settings.http.sleep = [](Seconds) {};
      return settings;
    };
  }
  ResolvedModel resolve(const std::string& name) { return resolve_model(built_in(), name, access()); }
  std::vector<Problem> problems(const std::string& name) {
    return problems_of([&] { (void)resolve(name); });
  }
};

/// A configuration and two shards of 101,000 and 48 elements: as many as the configuration says but for a thousand.
void write_sharded(const Hub& hub, const std::string& base) {
  hub.write(base + "config.json", kTinyConfig);
  hub.write(base + "model.safetensors.index.json",
            R"({"metadata": {"total_size": 404096}, "weight_map": {
                "a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors",
                "c": "model-00002-of-00002.safetensors"}})");
  hub.write(base + "model-00001-of-00002.safetensors", half_precision({{"a", {1010, 100}}}));
  hub.write(base + "model-00002-of-00002.safetensors", half_precision({{"b", {101, 1000}}, {"c", {48}}}));
}
constexpr std::int64_t kSharded = 101000 + 101000 + 48;

bool warns(const ModelIdentity& identity, std::string_view id) {
  for (const Warning& warning : identity.warnings) {
    if (warning.id == id) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("hub model: a sharded repository is its configuration and its headers", "[planner][hub]") {
  Hub hub;
  write_sharded(hub, "served/org/name/");
  hub.serve();
  for (const std::string name : {"org/name", "org/name@main"}) {
    const ResolvedModel model = hub.resolve(name);
    CHECK(model.identity.source == name);
    CHECK(model.identity.name == name);
    CHECK(model.identity.read_from == "config.json, headers of 2 safetensors files");
    CHECK(model.identity.warnings.empty());
    CHECK(parameters(model.files.config.network) == kTinyParameters);
    CHECK(model.files.parameters == kSharded);
    CHECK(model.files.stored->total_size() == 2 * kSharded);
  }
  JobSpec job;
  job.model = {"org/name", false};
  ModelIdentity identity;
  const ServedModel served = serve_model(built_in(), job, hub.access(), identity);
  CHECK(served.scheme.name == "bf16");
  CHECK(weights_of(served) / bytes(1) == Approx(2 * kSharded));
}

TEST_CASE("hub model: a name without an organisation is asked for with its prefix", "[planner][hub]") {
  Hub hub;
  write_sharded(hub, "served/oldest/");
  hub.write("served/gpt2/config.json", kTinyConfig);  // there is a preset of this name
  hub.serve();
  const ResolvedModel model = hub.resolve("hub:oldest");
  CHECK(model.identity.source == "hub:oldest");
  CHECK(model.files.parameters == kSharded);
  CHECK(hub.resolve("hub:oldest@main").files.parameters == kSharded);
  CHECK(hub.resolve("gpt2").preset != nullptr);
  const ResolvedModel theirs = hub.resolve("hub:gpt2");
  CHECK(theirs.preset == nullptr);
  CHECK(parameters(theirs.files.config.network) == kTinyParameters);
  CHECK(hub.problems("hub:").front().id == "input.unknown_name");
  CHECK(hub.problems("hub:a/b/c").front().id == "input.unknown_name");
  CHECK(hub.problems("oldest").front().expected.find("hub:name") != std::string::npos);

  hub.server->stop();  // what was kept answers for it
  CHECK(hub.resolve("hub:oldest").files.parameters == kSharded);
}

TEST_CASE("hub model: weights that are not there are counted, those that cannot be had are an error",
          "[planner][hub]") {
  Hub hub;
  write_sharded(hub, "served/org/name/");
  fs::remove(hub.folder.path("served/org/name/model-00002-of-00002.safetensors"));
  hub.serve();
  const ResolvedModel absent = hub.resolve("org/name");
  CHECK_FALSE(absent.files.stored);
  CHECK(warns(absent.identity, "model.no_weights"));

  write_sharded(hub, "served/org/other/");
  (void)hub.resolve("org/other");
  fs::remove_all(hub.folder.path("answers"));
  hub.server->set("hub_status=500");
  CHECK(hub.problems("org/other").front().id == "net.server_error");
}

TEST_CASE("hub model: of several GGUF files one is chosen by its format", "[planner][hub]") {
  Hub hub;
  hub.write("served/org/name/tiny-F16.gguf", tiny_gguf().build(2 * kTinyGguf + 4096));
  hub.write("served/org/name/tiny-Q4_K_M.gguf", tiny_gguf().build(2 * kTinyGguf + 4096));
  hub.write("served/org/name/mmproj-F16.gguf", "not asked for");
  hub.serve();
  const ResolvedModel model = hub.resolve("org/name:Q4_K_M");
  CHECK(model.identity.name == "Tiny");
  CHECK(model.identity.read_from == "GGUF header");
  REQUIRE(model.files.config.network.decoder);
  CHECK(parameters(model.files.config.network) == kTinyGguf);
  CHECK(model.files.stored->total_size() == 2 * kTinyGguf);

  const auto ambiguous = hub.problems("org/name");
  CHECK(ambiguous.front().id == "input.ambiguous_name");
  CHECK(ambiguous.front().expected == "org/name:NAME with a part of one of tiny-F16.gguf, tiny-Q4_K_M.gguf");
  CHECK(hub.problems("org/name:Q8_0").front().id == "input.unknown_name");
}

TEST_CASE("hub model: a pipeline is its components", "[planner][hub]") {
  Hub hub;
  const std::string base = "served/org/name/";
  hub.write(base + "model_index.json",
            R"({"_class_name": "SomePipeline", "text_encoder": ["transformers", "LlamaForCausalLM"],
                "scheduler": ["diffusers", "S"]})");
  write_sharded(hub, base + "text_encoder/");
  hub.write(base + "scheduler/scheduler_config.json", "{}");
  hub.serve();
  const ResolvedModel model = hub.resolve("org/name");
  CHECK(model.identity.read_from == "model_index.json, headers of 2 safetensors files");
  REQUIRE(model.files.config.network.parts.size() == 1);
  CHECK(model.files.config.network.parts[0].name == "text_encoder");
  CHECK(model.files.stored->total_size() == 2 * kSharded);
}

TEST_CASE("hub model: a repository without a configuration is counted from what it holds", "[planner][hub]") {
  Hub hub;
  hub.write("served/org/weights/net.safetensors", half_precision({{"body.w", {30, 10}}, {"head.w", {10, 10}}}));
  hub.write("served/org/nothing/README.md", "a data set");
  hub.serve();
  const ResolvedModel model = hub.resolve("org/weights");
  CHECK(parameters(model.files.config.network) == 400);
  CHECK(model.identity.read_from == "headers of 1 safetensors file");
  const auto nothing = hub.problems("org/nothing");
  CHECK(nothing.front().id == "input.not_found");
  CHECK(nothing.front().place->origin == "org/nothing");
}

TEST_CASE("hub model: ONNX in a repository is read there", "[planner][hub]") {
  Hub hub;
  // ir_version 8, opset 17, a graph with one initializer: FLOAT [2, 3] of 24 raw bytes, called w.
  const std::string tensor = std::string("\x08\x02\x08\x03\x10\x01\x42\x01w\x4a\x18", 11) + std::string(24, '\0');
  const std::string graph = std::string("\x2a", 1) + static_cast<char>(tensor.size()) + tensor;
  hub.write("served/org/name/model.onnx",
            std::string("\x08\x08\x42\x02\x10\x11\x3a", 7) + static_cast<char>(graph.size()) + graph);
  hub.serve();
  const ResolvedModel model = hub.resolve("org/name");
  CHECK(model.files.parameters == 6);
  CHECK(model.files.stored->total_size() == 24);
}

TEST_CASE("hub model: what the Hub refuses is said with the repository's name", "[planner][hub]") {
  Hub hub;
  hub.write("served/org/name/config.json", kTinyConfig);
  hub.serve();
  const auto missing = hub.problems("org/nowhere");  // the Hub answers 401, as for a private one
  CHECK(missing.front().id == "net.unauthorized");
  CHECK(missing.front().message.find("nowhere") != std::string::npos);
  CHECK(hub.problems("org/name@nightly").front().id == "net.not_found");
  hub.server->set("token=another");
  CHECK(hub.problems("org/name").front().id == "net.unauthorized");
  for (const Problem& problem : hub.problems("org/name")) {
    CHECK(problem.message.find("hf_secret") == std::string::npos);
    CHECK(problem.expected.find("hf_secret") == std::string::npos);
  }
}

TEST_CASE("hub model: without a network what was kept gives the same model", "[planner][hub]") {
  Hub hub;
  write_sharded(hub, "served/org/name/");
  hub.serve();
  const ResolvedModel first = hub.resolve("org/name");
  hub.server->stop();
  hub.offline = GENERATE(true, false);
  const ResolvedModel again = hub.resolve("org/name");
  CHECK(again.identity.read_from == first.identity.read_from);
  CHECK(again.files.stored->total_size() == first.files.stored->total_size());
  CHECK(parameters(again.files.config.network) == parameters(first.files.config.network));
  CHECK(hub.notices.size() == 1);
  CHECK(hub.problems("org/another").front().id == (hub.offline ? "net.offline" : "net.unreachable"));
}

TEST_CASE("hub model: what the Hub's own libraries left on disk needs no network", "[planner][hub]") {
  Hub hub;
  const std::string base = "hf/hub/models--org--name/";
  write_sharded(hub, base + "snapshots/" + kCommit + "/");
  hub.write(base + "refs/main", kCommit);
  hub.offline = true;
  const ResolvedModel model = hub.resolve("org/name");
  CHECK(model.identity.read_from == "config.json, headers of 2 safetensors files");
  CHECK(model.files.stored->total_size() == 2 * kSharded);
  CHECK(hub.notices.empty());
}

TEST_CASE("hub model: a snapshot of the configuration alone is counted", "[planner][hub]") {
  Hub hub;
  const std::string base = "hf/hub/models--org--name/";
  hub.write(base + "snapshots/" + kCommit + "/config.json", kTinyConfig);
  hub.write(base + "refs/main", kCommit);
  hub.offline = true;
  const ResolvedModel model = hub.resolve("org/name");
  CHECK(model.identity.read_from == "config.json");
  CHECK(parameters(model.files.config.network) == kTinyParameters);
  CHECK_FALSE(model.files.stored);
}

}  // namespace gpuplan::testing
