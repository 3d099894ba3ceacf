#pragma once
/// Catalogues for tests: the built-in one, files in a folder of their own, and what goes wrong with them.

#include <gpuplan/base/error.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/deploy/deployment.hpp>
#include <gpuplan/model/stored_scheme.hpp>

#include "support.hpp"

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuplan::testing {

inline const Catalog& built_in() {
  static const Catalog catalog = load_catalog({});
  return catalog;
}

/// The built-in catalogue with `text` on top, or `text` alone when it says `replace: true`.
inline Catalog with_overlay(const std::string& text, Layer layer = Layer::flag) {
  const Folder folder;
  return load_catalog({{folder.write("my.yaml", text), layer}});
}

template <class R>
const R& required(const R* record, std::string_view name) {
  if (!record) throw std::runtime_error("not in the catalogue: " + std::string(name));
  return *record;
}
inline const Accelerator& gpu(const Catalog& catalog, std::string_view name) {
  return required(catalog.find_accelerator(name), name);
}
inline const Accelerator& gpu(std::string_view name) { return gpu(built_in(), name); }
inline const ModelPreset& preset(std::string_view name) { return required(built_in().find_model(name), name); }
inline const Engine& engine(std::string_view name) { return required(built_in().find_engine(name), name); }
inline const Provider& provider(std::string_view name) { return required(built_in().find_provider(name), name); }
inline const Offer& offer(const Provider& provider, std::string_view id) {
  for (const Offer& candidate : provider.offers) {
    if (candidate.id == id) return candidate;
  }
  throw std::runtime_error("no such offer: " + std::string(id));
}
inline Scheme scheme(std::string_view name) { return parse_scheme(name).value.value(); }

inline ServedModel served(const Architecture& architecture, std::string_view weights, std::string_view kv = "bf16") {
  ServedModel model;
  model.architecture = architecture;
  model.kv = parse_kv_format(kv).value.value();
  model.tensors = tensors_of(architecture);
  model.scheme = resolve_scheme(scheme(weights), architecture, model.tensors);
  return model;
}
inline ServedModel served(std::string_view model, std::string_view weights) {
  return served(architecture_of(preset(model)), weights);
}

/// `my.yaml:3:5`, without the folder.
inline std::string at(const Problem& problem) {
  if (!problem.place) return "nowhere";
  return problem.place->origin.substr(problem.place->origin.rfind('/') + 1) + ":" +
         std::to_string(problem.place->line) + ":" + std::to_string(problem.place->column);
}

/// Numbers that are the same on every machine; the distributions of the standard library are not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  double real(double low, double high) { return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  bool heads() { return (engine_() & 1U) != 0; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace gpuplan::testing
