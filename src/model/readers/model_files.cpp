#include <gpuplan/model/model_files.hpp>

#include "bytes.hpp"
#include "onnx.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/model/onnx.hpp>
#include <gpuplan/model/safetensors.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

namespace gpuplan {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfig = "config.json";
constexpr std::string_view kPipeline = "model_index.json";
constexpr std::string_view kSavedModel = "saved_model.pb";
/// Names of the weights of a model or a component, without what follows: an index, or one file.
constexpr std::string_view kWeightNames[] = {"model", "diffusion_pytorch_model", "pytorch_model", "consolidated"};
/// Types whose elements are weights one by one; others pack several into one.
constexpr std::string_view kPlainTypes[] = {"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"};

std::string plural(std::int64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

void append(StoredTensors& all, StoredTensors more, std::string_view prefix) {
  all.format = more.format;
  all.counted.insert(all.counted.end(), more.counted.begin(), more.counted.end());
  if (all.tensors.empty() && prefix.empty()) {
    all.tensors = std::move(more.tensors);
    return;
  }
  for (StoredTensor& tensor : more.tensors) {
    if (!prefix.empty()) tensor.name = std::string(prefix) + tensor.name;
    all.tensors.push_back(std::move(tensor));
  }
}

/// Types of positions, counters and masks that are kept beside weights.
constexpr std::string_view kNoWeights[] = {"I64", "U64", "BOOL"};

/// Elements of the tensors when each of them is a weight; 0 when some are packed.
std::int64_t plain_elements(const StoredTensors& stored) {
  std::int64_t total = 0;
  for (const StoredFormat& f : stored.by_format()) {
    if (std::find(std::begin(kNoWeights), std::end(kNoWeights), f.format) != std::end(kNoWeights)) continue;
    if (std::find(std::begin(kPlainTypes), std::end(kPlainTypes), f.format) == std::end(kPlainTypes)) return 0;
    total += f.elements;
  }
  return total;
}

/// Tensors one by one are wanted only where nothing else says what the network is.
TensorListing listing_for(const ModelConfig& config) {
  return config.network.parts.empty() ? TensorListing::listed : TensorListing::counted;
}

Problem warning(std::string id, std::string message) {
  Problem p;
  p.id = std::move(id);
  p.message = std::move(message);
  return p;
}

/// The network of files that nothing else describes.
void count_tensors(ModelFiles& out) {
  out.config.network = network_of_tensors(*out.stored);
  if (out.parameters > 0) return;
  out.config.warnings.push_back(warning(
      "model.packed_weights",
      "some tensors are whole numbers, of which one may hold several weights: elements are counted, bytes are right"));
}

class FolderReader {
 public:
  FolderReader(FileSet& files, std::string_view choice) : files_(files), choice_(choice) {}

  ModelFiles read() {
    const bool has_config = files_.has(kConfig) || files_.has(kPipeline);
    if (has_config) {
      out_.config = read_model_config(files_);
      out_.read_from = files_.has(kConfig) ? kConfig : kPipeline;
    }
    if (!choice_.empty()) return read_other_weights(), std::move(out_);
    if (files_.has(kPipeline) && !files_.has(kConfig)) {
      read_components();
    } else {
      read_safetensors("");
    }
    if (!has_config && !out_.stored) read_other_weights();
    if (files_.has(kConfig) && !out_.stored) read_gguf_beside_config();
    finish_safetensors();
    return std::move(out_);
  }

 private:
  /// Of each component the weights in its folder.
  void read_components() {
    std::vector<std::string> components;
    for (const NetworkPart& part : out_.config.network.parts) {
      const std::string component = part.name.substr(0, part.name.find('.'));
      if (std::find(components.begin(), components.end(), component) == components.end())
        components.push_back(component);
    }
    for (const std::string& component : components) read_safetensors(component + "/");
  }

  void read_safetensors(const std::string& folder) {
    for (const std::string_view name : kWeightNames) {
      const std::string base = folder + std::string(name);
      if (const std::string index = base + ".safetensors.index.json"; files_.has(index))
        return read_index(index, folder);
      if (const std::string single = base + ".safetensors"; files_.has(single)) return read_single(single, folder);
    }
    if (folder.empty() && !files_.has(kConfig)) read_lone_file();
  }

  void read_index(const std::string& index, const std::string& folder) {
    try {
      ShardedTensors sharded = read_safetensors_index(files_, index, listing_for(out_.config));
      out_.weight_files += sharded.shards;
      keep(std::move(sharded.stored), folder);
    } catch (const InputError& error) {
      // A folder with the small files alone is usual; anything else that is wrong with the weights is said as such.
      const bool only_absent = std::all_of(error.problems().begin(), error.problems().end(),
                                           [](const Problem& p) { return p.id == "input.missing_shard"; });
      if (!only_absent) throw;
      out_.config.warnings.push_back(warning(
          "model.no_weights", "the weights that '" + index + "' names are not there: they are counted, not read"));
    }
  }

  void read_single(const std::string& file, const std::string& folder) {
    StoredTensors stored = read_safetensors_header(*files_.open(file));
    ++out_.weight_files;
    keep(std::move(stored), folder);
  }

  void keep(StoredTensors stored, const std::string& folder) {
    if (!out_.stored) out_.stored.emplace();
    append(*out_.stored, std::move(stored), folder);
  }

  /// A folder without a configuration and with one file of weights.
  void read_lone_file() {
    std::vector<std::string> found;
    for (const std::string& name : files_.list()) {
      if (name.ends_with(".safetensors") && name.find('/') == std::string::npos) found.push_back(name);
    }
    if (found.size() == 1) read_single(found.front(), "");
  }

  void finish_safetensors() {
    if (!out_.stored || out_.stored->format != "safetensors") return;
    out_.parameters = plain_elements(*out_.stored);
    add_source("headers of " + plural(out_.weight_files, "safetensors file"));
    if (out_.config.network.parts.empty()) count_tensors(out_);
  }

  void add_source(const std::string& words) { out_.read_from += (out_.read_from.empty() ? "" : ", ") + words; }

  std::vector<std::string> files_ending(std::string_view suffix) {
    std::vector<std::string> found;
    for (std::string& name : files_.list()) {
      if (to_lower(name).ends_with(suffix)) found.push_back(std::move(name));
    }
    return found;
  }

  /// Repositories of GGUF files often carry the configuration of what they were made from, which has other bytes.
  void read_gguf_beside_config() {
    const std::vector<std::string> models = gguf_models(files_ending(".gguf"));
    if (models.size() == 1) {
      ModelConfig config = out_.config;
      read_gguf(models.front());
      if (!out_.config.network.decoder) out_.config = std::move(config);
    } else if (models.size() > 1) {
      out_.config.warnings.push_back(
          warning("model.no_weights", "of " + plural(static_cast<std::int64_t>(models.size()), "model") +
                                          " in GGUF here none is chosen ('" + files_.name() +
                                          ":NAME'): the configuration is counted"));
    }
  }

  void read_other_weights() {
    if (const auto gguf = files_ending(".gguf"); !gguf.empty()) return read_gguf(choose(gguf));
    if (!choice_.empty()) refuse_choice({});
    if (const auto onnx = files_ending(".onnx"); onnx.size() == 1) return read_onnx_file(onnx.front());
    if (files_.has(kSavedModel)) read_onnx_file(std::string(kSavedModel));  // refuses with a hint
    Problem p;
    p.id = "input.not_found";
    p.message = "nothing here describes a model";
    p.place = Place{files_.name(), 0, 0};
    p.expected = "config.json, model_index.json, *.safetensors, *.gguf or one *.onnx";
    throw InputError(std::move(p));
  }

  /// The files of models by name without the part's number: parts of a split file are one model, known by its first.
  static std::map<std::string, std::string> models_of(const std::vector<std::string>& names) {
    std::map<std::string, std::string> models;
    for (const std::string& name : names) {
      const std::size_t split = name.rfind("-of-");
      const bool is_part = split != std::string::npos && split > 6;
      const std::string model = is_part ? name.substr(0, split - 6) : name;
      if (to_lower(name).find("mmproj") != std::string::npos) continue;  // the projector of a vision tower
      models.try_emplace(model, name);
    }
    return models;
  }

  static std::vector<std::string> gguf_models(const std::vector<std::string>& names) {
    std::vector<std::string> files;
    for (const auto& [model, file] : models_of(names)) files.push_back(file);
    return files;
  }

  std::string choose(const std::vector<std::string>& names) {
    std::map<std::string, std::string> models = models_of(names);
    std::erase_if(models, [&](const auto& model) {
      return !choice_.empty() && lookup_key(model.first).find(lookup_key(choice_)) == std::string::npos;
    });
    if (models.size() == 1) return models.begin()->second;
    // `Q4_K` also stands in `Q4_K_M`: the one that ends so is meant.
    for (const auto& [model, file] : models) {
      const std::string stem = model.ends_with(".gguf") ? model.substr(0, model.size() - 5) : model;
      if (!choice_.empty() && lookup_key(stem).ends_with(lookup_key(choice_))) return file;
    }
    refuse_choice(models.empty() ? names : keys_of(models));
  }

  static std::vector<std::string> keys_of(const std::map<std::string, std::string>& models) {
    std::vector<std::string> keys;
    for (const auto& [model, file] : models) keys.push_back(model);
    return keys;
  }

  [[noreturn]] void refuse_choice(const std::vector<std::string>& names) const {
    constexpr std::size_t kShown = 12;
    const std::vector<std::string> shown(names.begin(),
                                         names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())));
    Problem p;
    p.id = choice_.empty() ? "input.ambiguous_name" : "input.unknown_name";
    p.message = choice_.empty() ? "there are several models in GGUF here"
                                : "no one model in GGUF here is called '" + std::string(choice_) + "'";
    p.place = Place{files_.name(), 0, 0};
    p.expected = names.empty() ? "a repository or folder with GGUF files"
                               : files_.name() + ":NAME with a part of one of " + join(shown, ", ");
    throw InputError(std::move(p));
  }

  void read_gguf(const std::string& name) {
    GgufFile file = read_gguf_header(files_, name);
    keep_gguf(std::move(file), out_);
  }

  void read_onnx_file(const std::string& name) {
    const std::string path = files_.origin(name);
    std::error_code ignored;
    keep_onnx(fs::exists(path, ignored) ? read_onnx(path) : read_onnx(*files_.open(name)), out_);
  }

 public:
  static void keep_gguf(GgufFile file, ModelFiles& out) {
    out.config = read_gguf_network(file);
    out.weight_files = file.parts;
    for (const StoredTensor& tensor : file.stored.tensors) out.parameters += tensor.elements;
    out.stored = std::move(file.stored);
    out.read_from = "GGUF header" + (file.parts > 1 ? " of " + plural(file.parts, "part") : std::string());
  }

  static void keep_onnx(OnnxFile file, ModelFiles& out) {
    out.config.network = network_of_tensors(file.stored);
    out.config.model_type = "onnx";
    std::vector<std::string> operators;
    for (const auto& [name, count] : file.operators) operators.push_back(std::to_string(count) + " " + name);
    out.config.not_modelled.push_back("an ONNX graph is counted from its initializers; time and activations of its " +
                                      plural(static_cast<std::int64_t>(operators.size()), "kind") +
                                      " of operators are not modelled");
    for (const std::string& note : file.notes) out.config.warnings.push_back(warning("model.onnx", note));
    out.weight_files = 1 + static_cast<std::int64_t>(file.external_files.size());
    out.parameters = plain_onnx(file.stored);
    out.stored = std::move(file.stored);
    out.read_from = "ONNX initializers";
  }

 private:
  static std::int64_t plain_onnx(const StoredTensors& stored) {
    std::int64_t total = 0;
    for (const StoredTensor& tensor : stored.tensors) total += tensor.elements;
    return total;
  }

  FileSet& files_;
  std::string_view choice_;
  ModelFiles out_;
};

}  // namespace

ModelFiles read_model_files(FileSet& files, std::string_view choice) { return FolderReader(files, choice).read(); }

ModelFiles read_model_file(const std::string& path) {
  std::error_code ignored;
  if (path != "-" && fs::is_directory(path, ignored)) return read_model_files(*open_folder(path));
  const std::string name = to_lower(fs::path(path).filename().string());
  const std::string folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path().string() : ".";
  ModelFiles out;
  if (name.ends_with(".gguf")) {
    FolderReader::keep_gguf(read_gguf_header(path), out);
  } else if (name.ends_with(".onnx") || name.ends_with(".pb")) {
    FolderReader::keep_onnx(read_onnx(path), out);
  } else if (name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json")) {
    const bool sharded = name.ends_with(".json");
    const bool has_config = fs::exists(fs::path(folder) / kConfig, ignored);
    out.config = has_config ? read_model_config(*open_folder(folder)) : ModelConfig{};
    out.weight_files = 1;
    if (sharded) {
      ShardedTensors shards = read_safetensors_index(path);
      out.weight_files = shards.shards;
      out.stored = std::move(shards.stored);
    } else {
      out.stored = read_safetensors_header(path);
    }
    out.parameters = plain_elements(*out.stored);
    out.read_from = sharded ? "safetensors index and headers" : "safetensors header";
    if (out.config.network.parts.empty()) count_tensors(out);
    if (!has_config) {
      out.config.not_modelled.emplace_back(
          "no config.json beside the weights: the network is counted from its tensors");
    }
  } else {
    out.config = read_model_config_file(path);
    out.read_from = path == "-" ? "standard input" : fs::path(path).filename().string();
  }
  return out;
}

}  // namespace gpuplan
