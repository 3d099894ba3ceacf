#include "pipeline.hpp"

#include <string>
#include <utility>

namespace gpuplan {

void add_component(ModelConfig& pipeline, std::string_view name, ModelConfig component) {
  const std::string prefix(name);
  const bool several = component.network.parts.size() > 1;
  for (NetworkPart& part : component.network.parts) {
    part.name = several ? prefix + "." + part.name : prefix;
    pipeline.network.parts.push_back(std::move(part));
  }
  for (const std::string& what : component.not_modelled) pipeline.not_modelled.push_back(prefix + ": " + what);
  for (Problem& warning : component.warnings) {
    warning.message = prefix + ": " + warning.message;
    pipeline.warnings.push_back(std::move(warning));
  }
  if (pipeline.torch_dtype.empty()) pipeline.torch_dtype = component.torch_dtype;
  if (pipeline.weights_scheme.empty()) pipeline.weights_scheme = component.weights_scheme;
}

}  // namespace gpuplan
