#pragma once
/// A model's own `config.json` as the Hub's libraries write it: which network, in which numbers, and how its weights are stored.
///
///     const ModelConfig config = read_model_config_file("Llama-3.1-8B/config.json");
///     parameters(config.network) == 8030261248;  config.network.decoder->kv_heads == 8
///     config.not_modelled                          // "architecture 'X'" when there is no network, else what it leaves out
///
/// A network is read as what its `model_type` and `architectures` (or a diffusion component's `_class_name`) name, never guessed
/// from its numbers: what is not in the tables of families has no parts. A number that the config leaves out is the format's own default, with a warning where
/// the format has several; one without a default (`hidden_size`) makes the network not modelled. Numbers that cannot be
/// (zero heads, NaN, 1e300) are InputError with the place of the key. `Infinity` elsewhere is tolerated.
/// Fields and defaults: the configuration classes of the `transformers` library and of the models' own repositories.

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/file_set.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/model/network.hpp>
#include <gpuplan/model/stored_scheme.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct ModelConfig {
  std::string model_type;          ///< as written, or empty
  std::string architecture_class;  ///< the first of `architectures`, or empty
  std::string text_part;  ///< the key of the nested text model (`text_config`) that the decoder was read from, or empty
  Network network;        ///< no parts: not known
  std::vector<std::string> not_modelled;  ///< what the parts leave out, or why there are none
  std::vector<Problem> warnings;          ///< assumptions and oddities, with places
  std::string torch_dtype;                ///< as written: `bfloat16`
  std::string quantization;               ///< as the config calls it: `gptq`, `FP8`; empty: not quantized
  std::string weights_scheme;             ///< what parse_scheme takes; empty: not said, or none of ours
  std::vector<ModuleRule> module_rules;   ///< modules that the quantization stores otherwise, mostly in 16 bit
  std::string kv_format;                  ///< one of `kv_formats()` when the quantization says so, else empty
};

/// @param config  a parsed config.json
/// Throws InputError when it is not a mapping or a number in it cannot be.
ModelConfig read_model_config(const Node& config, std::string_view origin);

/// A preset as the configuration that it stands for; of one that is given field by field the network alone.
/// Throws InputError when its `config` is no JSON or a number in it cannot be.
ModelConfig read_model_preset(const ModelPreset& preset);

/// The configuration in a set of files: `config.json` with what quantizers leave beside it, or the `model_index.json` of a
/// diffusion pipeline, whose components are read from their folders and become the parts.
ModelConfig read_model_config(FileSet& files);

/// @param path  a config.json, `-`, or a folder that holds one or a model_index.json. Of hf_quant_config.json, quantize_config.json and
///              quant_config.json beside a config.json the first that says a format counts, unless the config says one itself.
/// Throws InputError, also `input.lfs_pointer` for the pointer that Git LFS leaves in place of a file.
ModelConfig read_model_config_file(const std::string& path);

}  // namespace gpuplan
