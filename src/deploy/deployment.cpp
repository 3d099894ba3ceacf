#include <gpuplan/deploy/deployment.hpp>

#include <gpuplan/base/parse.hpp>
#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cstdlib>

namespace gpuplan {
namespace {

bool contains(Texts list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end() ||
         std::find(list.begin(), list.end(), "any") != list.end();
}

// "8.9" as 8.9; a capability of another vendor ("gfx942") is not comparable.
std::optional<double> capability(std::string_view text) { return parse_number(text).value; }

bool is_below(const Accelerator& accelerator, std::string_view least) {
  const auto have = capability(accelerator.compute_capability);
  const auto need = capability(least);
  return have && need && *have < *need;
}

}  // namespace

Bytes counted_weights(const ServedModel& model) {
  return weights_bytes(model.tensors, model.scheme) + weights_bytes(model.beside, model.scheme);
}

Bytes weights_of(const ServedModel& model) { return model.stored ? *model.stored : counted_weights(model); }

std::optional<Rejection> check_engine(const Engine& engine, const Accelerator& accelerator, const Scheme& scheme) {
  const std::string name(engine.name);
  if (!contains(engine.vendors, accelerator.vendor)) {
    const std::vector<std::string> vendors(engine.vendors.begin(), engine.vendors.end());
    return Rejection{"engine.vendor", name + " on " + std::string(accelerator.vendor), join(vendors, ", "),
                     "another --engine"};
  }
  if (is_below(accelerator, engine.min_compute_capability)) {
    return Rejection{"engine.compute_capability", "compute capability " + std::string(engine.min_compute_capability),
                     std::string(accelerator.compute_capability), "a newer accelerator, or another --engine"};
  }
  bool any_row = false;
  for (const EngineFormat& format : engine.formats) {
    if (lookup_key(format.format) != lookup_key(scheme.kernel)) continue;
    any_row = true;
    if (contains(format.vendors, accelerator.vendor) && !is_below(accelerator, format.compute_capability))
      return std::nullopt;
  }
  return Rejection{"engine.format",
                   any_row ? scheme.name + " kernels on " + std::string(accelerator.vendor) + " " +
                                 std::string(accelerator.compute_capability)
                           : scheme.name + " in " + name,
                   "none", "another --dtype"};
}

std::vector<std::int64_t> tensor_parallel_degrees(const Architecture& architecture, std::int64_t limit) {
  std::vector<std::int64_t> degrees;
  for (std::int64_t t = 1; t <= limit; t *= 2) {
    const bool heads_divide = architecture.heads % t == 0;
    const bool kv_heads_divide =
        architecture.has_latent_attention() || architecture.kv_heads % t == 0 || t % architecture.kv_heads == 0;
    if (heads_divide && kv_heads_divide) degrees.push_back(t);
  }
  return degrees;
}

}  // namespace gpuplan
