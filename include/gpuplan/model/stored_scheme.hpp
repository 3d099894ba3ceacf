#pragma once
/// How a given network is stored in a scheme, tensor group by tensor group: the mixes of GGUF files, and modules that a checkpoint
/// keeps unquantized or stores in another format.
///
///     const auto rules = read_model_config_file("Llama-FP8/config.json").module_rules;     // {"lm_head", ""}, …
///     const Scheme stored = resolve_scheme(*parse_scheme("fp8").value, architecture, tensors, rules);
///     weights_bytes(tensors, stored);
///
/// A rule names modules as checkpoints do: `lm_head`, `model.layers.3.mlp.down_proj`, `self_attn`, `*.mlp.shared_expert.*`,
/// `re:.*\.experts\..*`. Names are compared part by part (`mlp.gate` is not `mlp.gate_proj`), with `*` and `?` as in a shell; the first
/// rule that fits a module counts. Groups of which a part of the layers is named get the average.

#include <gpuplan/model/architecture.hpp>
#include <gpuplan/model/network.hpp>
#include <gpuplan/model/scheme.hpp>
#include <gpuplan/model/tensors.hpp>

#include <span>
#include <string>
#include <vector>

namespace gpuplan {

struct ModuleRule {
  std::string pattern;
  std::string format;  ///< a scheme's name; empty: not quantized
};

/// @param scheme  as parsed; of a GGUF mix every group gets its bytes in the file, padding included
Scheme resolve_scheme(Scheme scheme, const Architecture& architecture, std::span<const TensorGroup> tensors,
                      std::span<const ModuleRule> rules = {});

/// What one part of a network is stored in: its own format, the scheme, or 16 bit where quantizers leave the part alone.
Scheme part_scheme(const Network& network, const NetworkPart& part, const Scheme& scheme,
                   std::span<const ModuleRule> rules = {});

/// Bytes of the parts that are loaded.
Bytes weights_bytes(const Network& network, const Scheme& scheme, std::span<const ModuleRule> rules = {});

}  // namespace gpuplan
