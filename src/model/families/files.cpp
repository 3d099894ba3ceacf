#include <gpuplan/model/config.hpp>

#include "pipeline.hpp"
#include "quantization.hpp"

#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

namespace gpuplan {
namespace {

// Programs write these files: lists of modules run into hundreds of thousands of names.
constexpr std::size_t kMostNodes = 2000000;
constexpr std::string_view kConfigName = "config.json";
constexpr std::string_view kPipelineName = "model_index.json";
constexpr std::string_view kQuantizerFiles[] = {"hf_quant_config.json", "quantize_config.json", "quant_config.json"};
constexpr std::string_view kPointerStart = "version https://git-lfs.github.com/spec/";

Node parse_config(const std::string& text, const std::string& origin) {
  if (text.starts_with(kPointerStart)) {
    Problem p;
    p.id = "input.lfs_pointer";
    p.message = "this is a Git LFS pointer, not the file it stands for";
    p.place = Place{origin, 1, 1};
    p.expected = "the file itself: 'git lfs pull' fetches it";
    throw InputError(std::move(p));
  }
  return parse_json(text, origin, kMostNodes, NonFinite::accepted);
}

Node read_json(FileSet& files, std::string_view file) { return parse_config(files.text(file), files.origin(file)); }

/// A quantization that only a file beside the config states.
void read_quantizer_files(FileSet& files, ModelConfig& config) {
  for (const std::string_view name : kQuantizerFiles) {
    if (!files.has(name)) continue;
    const Node root = read_json(files, name);
    Reader problems(root, files.origin(name));
    problems.finish();
    FieldNotes notes;
    const Quantization found = read_quantizer_file(Fields(root, problems, notes), name);
    config.warnings.insert(config.warnings.end(), std::make_move_iterator(notes.warnings.begin()),
                           std::make_move_iterator(notes.warnings.end()));
    if (found.method.empty()) continue;
    config.quantization = found.method;
    config.weights_scheme = found.scheme;
    config.module_rules = found.rules;
    config.kv_format = found.kv_format;
    if (config.network.decoder) config.network.decoder->native_format = found.scheme;
    return;
  }
}

/// `model_index.json` names the components; those with a configuration in a folder of their name have weights.
ModelConfig read_pipeline(FileSet& files) {
  const Node index = read_json(files, kPipelineName);
  Reader problems(index, files.origin(kPipelineName));
  problems.finish();
  ModelConfig pipeline;
  const Node* name = index.find("_class_name");
  pipeline.architecture_class = name && name->kind == Node::Kind::scalar ? name->scalar : "";
  pipeline.network.family = pipeline.architecture_class;
  for (std::size_t i = 0; i < index.items.size(); ++i) {
    const std::string file = index.keys[i] + "/" + std::string(kConfigName);
    if (index.items[i].kind != Node::Kind::sequence || !files.has(file)) continue;
    add_component(pipeline, index.keys[i], read_model_config(read_json(files, file), files.origin(file)));
  }
  if (pipeline.network.parts.empty() && pipeline.not_modelled.empty()) {
    pipeline.not_modelled.push_back("pipeline '" + pipeline.architecture_class +
                                    "': none of its components has a config.json beside the index");
  }
  return pipeline;
}

}  // namespace

ModelConfig read_model_preset(const ModelPreset& preset) {
  ModelConfig config;
  if (preset.config.empty()) {
    config.architecture_class = preset.architecture;
    config.network = network_of(architecture_of(preset));
  } else {
    const std::string origin = "preset " + std::string(preset.name);
    config = read_model_config(parse_config(std::string(preset.config), origin), origin);
    if (config.network.decoder) config.network.decoder->name = preset.name;
    if (config.network.decoder && !preset.native_format.empty()) {
      config.network.decoder->native_format = preset.native_format;
    }
  }
  config.network.name = preset.name;
  config.network.family = preset.family;
  return config;
}

ModelConfig read_model_config(FileSet& files) {
  if (!files.has(kConfigName) && files.has(kPipelineName)) return read_pipeline(files);
  ModelConfig config = read_model_config(read_json(files, kConfigName), files.origin(kConfigName));
  if (config.quantization.empty()) read_quantizer_files(files, config);
  return config;
}

ModelConfig read_model_config_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (path != "-" && fs::is_directory(path, ignored)) return read_model_config(*open_folder(path));
  const fs::path file(path);
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  if (file.filename() == kPipelineName && fs::exists(file, ignored)) return read_pipeline(*open_folder(folder));
  ModelConfig config = read_model_config(parse_config(read_text_file(path), path == "-" ? "<stdin>" : path),
                                         path == "-" ? "<stdin>" : path);
  const bool has_neighbours = path != "-" && file.filename() == kConfigName;
  if (has_neighbours && config.quantization.empty()) read_quantizer_files(*open_folder(folder), config);
  return config;
}

}  // namespace gpuplan
