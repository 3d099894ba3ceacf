#pragma once
/// An engine by name and release: `vllm` is the newest, `vllm@0.6.4` keeps the rules of that release.
///
///     std::optional<Engine> engine = find_engine_release(catalog, "vllm@0.6");

#include <gpuplan/catalog/catalog.hpp>

#include <optional>
#include <string_view>

namespace gpuplan {

/// Whether one version comes before another: numbers between dots are compared as numbers, what follows them is ignored
/// (`0.6.5-dev` is 0.6.5), and a version that ends earlier counts as its first release (0.7 is 0.7.0).
bool is_older_release(std::string_view version, std::string_view other);

/// The record with what the releases from `version` on did otherwise (`Engine::releases`).
Engine engine_of_release(const Engine& engine, std::string_view version);

/// `NAME` or `NAME@VERSION`; the record that has `NAME-VERSION` among its names, else the engine's own. Empty: no such engine.
std::optional<Engine> find_engine_release(const Catalog& catalog, std::string_view name);

}  // namespace gpuplan
