#pragma once
/// A model from its own files: what its configuration says and what the headers of its weights hold.
///
///     const ModelFiles m = read_model_files(*open_folder("DeepSeek-V3"));
///     m.config.network;  m.stored->total_size();
///     const ModelFiles g = read_model_file("llama-3.1-8b-q4_k_m.gguf");
///
/// The network comes from a configuration where there is one, from GGUF's metadata, else it is counted from the tensors that the
/// headers list. Weights are never read. A folder may hold: config.json or model_index.json; safetensors, in one file or
/// sharded with an index, per component in a pipeline; GGUF, also split; ONNX.

#include <gpuplan/base/file_set.hpp>
#include <gpuplan/model/config.hpp>
#include <gpuplan/model/gguf.hpp>
#include <gpuplan/model/stored_tensors.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuplan {

struct ModelFiles {
  ModelConfig config;                   ///< what is not said anywhere stays empty
  std::optional<StoredTensors> stored;  ///< absent: there are no weights, or only files without a header
  std::int64_t weight_files = 0;        ///< with headers
  std::int64_t parameters = 0;          ///< by the headers, when the weights are not packed; 0: not known
  std::string read_from;                ///< in words: `config.json, headers of 4 safetensors files`
};

/// @param choice  of several models in GGUF the one whose file's name has this part, without regard to case
/// Throws InputError, also when there is nothing to read or when a choice is missing.
ModelFiles read_model_files(FileSet& files, std::string_view choice = {});

/// A folder, a config.json, `-`, or one file of weights: safetensors, an index of them, GGUF, ONNX.
ModelFiles read_model_file(const std::string& path);

/// The network that GGUF's metadata and tensor list describe. Without a decoder and with a word in `not_modelled` when the
/// metadata lacks what it needs; its parts are then what the list holds.
ModelConfig read_gguf_network(const GgufFile& file);

/// A network known by its tensors alone: parts by the first word of their names, tensors that differ in numbers only together.
Network network_of_tensors(const StoredTensors& stored);

}  // namespace gpuplan
