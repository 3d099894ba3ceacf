#pragma once
/// A model, an engine and devices of the built-in catalogue, ready to be timed.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/model/stored_scheme.hpp>
#include <gpuplan/perf/serving.hpp>

#include <string_view>

namespace gpuplan::testing {

inline const Catalog& built_in() {
  static const Catalog catalog = load_catalog({});
  return catalog;
}

inline ServedModel served(std::string_view model, std::string_view scheme = "bf16", std::string_view kv = "bf16") {
  const ModelPreset* preset = built_in().find_model(model);
  GPUPLAN_ASSERT(preset, "the tests name models of the catalogue");
  ServedModel result;
  result.architecture = architecture_of(*preset);
  result.kv = *parse_kv_format(kv).value;
  result.tensors = tensors_of(result.architecture);
  result.scheme = resolve_scheme(parse_scheme(scheme).value.value(), result.architecture, result.tensors);
  return result;
}

inline ServingCandidate candidate(const Accelerator& accelerator, std::int64_t tp, double concurrency) {
  return {&accelerator, fabric_of(built_in(), accelerator, {}, {}, tp), Layout{tp, 1, 1}, concurrency, 0};
}
inline ServingCandidate candidate(std::string_view accelerator, std::int64_t tp, double concurrency) {
  return candidate(*built_in().find_accelerator(accelerator), tp, concurrency);
}

}  // namespace gpuplan::testing
