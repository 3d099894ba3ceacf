#include <gpuplan/model/config.hpp>

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
constexpr std::string_view kQuantizerFiles[] = {"hf_quant_config.json", "quantize_config.json", "quant_config.json"};
constexpr std::string_view kPointerStart = "version https://git-lfs.github.com/spec/";

Node read_json_file(const std::string& path) {
  const std::string text = read_text_file(path);
  const std::string origin = path == "-" ? "<stdin>" : path;
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

/// A quantization that only a file beside the config states.
void read_quantizer_files(const std::filesystem::path& folder, ModelConfig& config) {
  for (const std::string_view name : kQuantizerFiles) {
    const std::filesystem::path path = folder / name;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    const Node root = read_json_file(path.string());
    Reader problems(root, path.string());
    problems.finish();
    FieldNotes notes;
    const Quantization found = read_quantizer_file(Fields(root, problems, notes), name);
    config.warnings.insert(config.warnings.end(), std::make_move_iterator(notes.warnings.begin()),
                           std::make_move_iterator(notes.warnings.end()));
    if (found.method.empty()) continue;
    config.quantization = found.method;
    config.weights_scheme = found.scheme;
    config.kv_format = found.kv_format;
    if (config.decoder) config.decoder->native_format = found.scheme;
    return;
  }
}

}  // namespace

ModelConfig read_model_config_file(const std::string& path) {
  std::error_code ignored;
  const bool is_folder = path != "-" && std::filesystem::is_directory(path, ignored);
  const std::filesystem::path file =
      is_folder ? std::filesystem::path(path) / kConfigName : std::filesystem::path(path);
  ModelConfig config = read_model_config(read_json_file(file.string()), file.string());
  const bool has_neighbours = path != "-" && file.filename() == kConfigName;
  if (has_neighbours && config.quantization.empty()) read_quantizer_files(file.parent_path(), config);
  return config;
}

}  // namespace gpuplan
