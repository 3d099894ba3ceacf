// What other planners were reported to get wrong: tests/reference/reported_wrong.csv holds the right values.

#include <gpuplan/memory/inference.hpp>
#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/model/model_files.hpp>
#include <gpuplan/planner/model_resolution.hpp>

#include "binary_files.hpp"
#include "catalogues.hpp"
#include "catch.hpp"

#include "reference_table.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gpuplan::testing {
namespace {

using Words = std::map<std::string, std::string>;  // `tokens=4096 tp=8`

Words words_of(const std::string& text) {
  Words words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return words;
}

std::string word_or(const Words& words, const char* key, const char* otherwise) {
  const auto found = words.find(key);
  return found == words.end() ? otherwise : found->second;
}

std::int64_t whole_or(const Words& words, const char* key, std::int64_t otherwise) {
  const auto found = words.find(key);
  return found == words.end() || found->second == "default" ? otherwise : std::stoll(found->second);
}

/// A preset, or a file below tests/data/configs.
Network network_named(const std::string& model) {
  if (const ModelPreset* preset = built_in().find_model(model)) return read_model_preset(*preset).network;
  return read_model_config_file(std::string(GPUPLAN_SOURCE_DIR) + "/tests/data/configs/" + model + ".json").network;
}

const Architecture& decoder_of(const Network& network) {
  if (!network.decoder) throw std::runtime_error("no decoder");
  return *network.decoder;
}

MlpGroup mlp_group(const Network& network, bool with_experts) {
  for (const MlpGroup& group : mlps_of(decoder_of(network))) {
    if (group.mlp.has_experts() == with_experts) return group;
  }
  return {};
}

/// Modules that a checkpoint left in 16 bit.
std::vector<ModuleRule> kept_modules(const Words& words) {
  if (word_or(words, "keep", "") != "mixers") return {};
  return {{"lm_head", ""}, {"re:.*self_attn.*", ""}, {"re:.*linear_attn.*", ""}, {"re:.*shared_expert.*", ""}};
}

double weights(const Network& network, const Words& words) {
  const Scheme stored = scheme(word_or(words, "scheme", "bf16"));
  const std::string part = word_or(words, "part", "");
  if (part.empty()) return weights_bytes(network, stored, kept_modules(words)) / bytes(1);
  Bytes total;  // a component of several parts is their sum
  for (const NetworkPart& p : network.parts) {
    if (p.name == part || p.name.starts_with(part + ".")) total += weights_bytes(p.tensors, stored);
  }
  return total / bytes(1);
}

InferenceMemory memory(const Network& network, const Words& words) {
  const ServedModel model = served(decoder_of(network), word_or(words, "scheme", "bf16"));
  InferenceMemoryInputs in;
  in.model = &model;
  in.engine = &engine(word_or(words, "engine", "vllm"));
  in.visible = {gibibytes(static_cast<double>(whole_or(words, "gib", 80))), Mark::published, 0};
  in.layout.tp = whole_or(words, "tp", 1);
  in.layout.pp = whole_or(words, "pp", 1);
  in.request.context = whole_or(words, "tokens", JobSpec{}.context.value);
  return inference_memory(in, whole_or(words, "sequences", 1), nullptr);
}

double bytes_per_weight(const Words& words) {
  constexpr double side = 1 << 16;  // what a whole tensor adds does not show
  return stored_bytes(scheme(word_or(words, "scheme", "")).expert, side, side) / bytes(side * side);
}

double measure(const ReferenceRow& row) {
  const std::string& what = row.at("quantity");
  const Words words = words_of(row.at("conditions"));
  if (what == "bytes_per_weight") return bytes_per_weight(words);
  const Network network = network_named(row.at("model"));
  if (what == "parameters") return static_cast<double>(parameters(network));
  if (what == "stored_parameters") {  // layers for speculation are in the files too
    std::int64_t total = 0;
    for (const NetworkPart& part : network.parts) total += parameters(part.tensors);
    return static_cast<double>(total);
  }
  if (what == "active_parameters") return static_cast<double>(active_parameters(network));
  if (what == "weights") return weights(network, words);
  if (what == "kv_bytes_per_token") return kv_bytes_per_token(decoder_of(network), bytes(2)) / bytes(1);
  if (what == "kv_cache") return memory(network, words).terms.of("kv_cache") / bytes(1);
  if (what == "fits") return memory(network, words).verdict == FitVerdict::does_not_fit ? 0 : 1;
  if (what == "expert_layers") return static_cast<double>(mlp_group(network, true).layers);
  if (what == "dense_layers") return static_cast<double>(mlp_group(network, false).layers);
  if (what == "expert_width") return static_cast<double>(mlp_group(network, true).mlp.expert_intermediate);
  if (what == "dense_width") return static_cast<double>(mlp_group(network, false).mlp.intermediate);
  throw std::runtime_error("no such quantity: " + what);
}

/// A file of two tensors that is as large as they say and takes no room on the disk.
std::string packed_file(const Folder& folder, std::int64_t packed, std::int64_t plain) {
  const std::int64_t end = 4 * packed;
  const std::string header =
      R"({"layers.0.qweight":{"dtype":"I32","shape":[)" + std::to_string(packed) + R"(],"data_offsets":[0,)" +
      std::to_string(end) + R"(]},"layers.0.scales":{"dtype":"BF16","shape":[)" + std::to_string(plain) +
      R"(],"data_offsets":[)" + std::to_string(end) + "," + std::to_string(end + 2 * plain) + "]}}";
  const std::string file = safetensors_file(header, 0);
  const std::string path = folder.write("model.safetensors", file);
  std::filesystem::resize_file(path, file.size() + static_cast<std::uint64_t>(end + 2 * plain));
  return path;
}

}  // namespace

TEST_CASE("reported wrong: every reported quantity is right", "[reported]") {
  for (const ReferenceRow& row : reference_table("reported_wrong.csv")) {
    CAPTURE(row.at("id"), row.at("model"), row.at("quantity"), row.at("conditions"));
    CHECK(measure(row) == Approx(number(row, "value")).epsilon(std::max(1e-12, number(row, "tolerance"))));
  }
}

namespace {

/// `-74 %`, `+682 %`; differences of less than a hundredth of a per cent are none.
std::string error_text(double value, double right) {
  const double percent = 100 * (value / right - 1);
  if (std::abs(percent) < 0.005) return "0 %";
  std::ostringstream out;
  out << std::showpos << std::fixed << std::setprecision(std::abs(percent) < 10 ? 2 : 0) << percent << " %";
  return out.str();
}

/// What stands in the README between the marks of this table.
std::string readme_table() {
  std::ifstream in(std::string(GPUPLAN_SOURCE_DIR) + "/README.md");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::string begin = "<!-- reported: begin -->\n";
  const std::size_t from = text.find(begin);
  const std::size_t to = text.find("<!-- reported: end -->");
  return from == std::string::npos || to == std::string::npos
             ? ""
             : text.substr(from + begin.size(), to - from - begin.size());
}

}  // namespace

TEST_CASE("reported wrong: the README shows our errors beside those that were reported", "[reported]") {
  std::string table = "| what | reported of | its error | ours |\n| --- | --- | --- | --- |\n";
  for (const ReferenceRow& row : reference_table("reported_wrong.csv")) {
    if (row.at("reported").empty()) continue;
    const double right = number(row, "value");
    table += "| " + row.at("what") + " | " + row.at("reported_by") + " | " +
             error_text(number(row, "reported"), right) + " | " + error_text(measure(row), right) + " |\n";
  }
  CHECK(readme_table() == table);
}

// llmfit issue 1045 (w60): what the Hub sums up are elements, packed eight to an int32. The counts
// are published; what of them is packed follows from the published size: 4 * packed + 2 * (count - packed) bytes.
TEST_CASE("reported wrong: packed elements are not counted as weights, bytes come from the headers", "[reported]") {
  struct Row {
    std::int64_t elements;
    double file_size;
  };
  const auto row = GENERATE(values<Row>({{7839289360, 25.1e9}, {9116380400, 30.9e9}, {2261053168, 6.5e9}}));
  const auto packed = static_cast<std::int64_t>((row.file_size - 2 * static_cast<double>(row.elements)) / 2);
  const Folder folder;
  const ModelFiles files = read_model_file(packed_file(folder, packed, row.elements - packed));
  CHECK(files.parameters == 0);  // the headers cannot say it
  CHECK(static_cast<double>(files.stored->total_size()) == Approx(row.file_size).epsilon(0.001));
}

TEST_CASE("reported wrong: a packed checkpoint takes what its headers hold and has the parameters of its network",
          "[reported]") {
  const Folder folder;
  packed_file(folder, 9'000'000, 1'000'000);
  folder.write("config.json",
               R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 1024,
                   "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 4096, "vocab_size": 8000,
                   "max_position_embeddings": 4096, "tie_word_embeddings": false,
                   "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}})");
  JobSpec job;
  job.model = {folder.path(), false};
  ModelIdentity identity;
  const ServedModel model = serve_model(built_in(), job, {}, identity);
  CHECK(weights_of(model) / bytes(1) == Approx(4 * 9e6 + 2 * 1e6));
  // 4 layers of 4 * 1024^2 + 3 * 1024 * 4096 + 2 * 1024, two tables of 8000 * 1024, the last norm
  CHECK(parameters(model.network) == 4 * (4 * 1048576 + 3 * 4194304 + 2048) + 2 * 8192000 + 1024);
}

}  // namespace gpuplan::testing
