#pragma once
/// Pipelines: networks whose parts are models of their own, each with its own configuration.

#include <gpuplan/model/config.hpp>

#include <string_view>

namespace gpuplan {

/// Adds a component's parts under its name, `text_encoder` or, where it has several, `vae.decoder`.
void add_component(ModelConfig& pipeline, std::string_view name, ModelConfig component);

}  // namespace gpuplan
