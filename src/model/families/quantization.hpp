#pragma once
/// How a checkpoint's weights are stored, as its `quantization_config` or a file of its quantizer says, in the names of our schemes.

#include "fields.hpp"

#include <gpuplan/model/stored_scheme.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct Quantization {
  std::string method;             ///< `gptq`, `NVFP4`; empty: not quantized
  std::string scheme;             ///< what parse_scheme takes; empty: none of ours, which is a warning
  std::vector<ModuleRule> rules;  ///< modules that are stored otherwise
  std::string kv_format;          ///< of `kv_formats()`, or empty
};

/// The mapping `quantization_config` of a config.json.
Quantization read_quantization_config(Fields in);

/// The file a quantizer leaves beside config.json: hf_quant_config.json (ModelOpt), quantize_config.json (AutoGPTQ),
/// quant_config.json (AutoAWQ).
/// @param name  of the file; a quantize_config.json may also be the settings of an ONNX quantizer, which say no weight format
Quantization read_quantizer_file(Fields in, std::string_view name);

}  // namespace gpuplan
