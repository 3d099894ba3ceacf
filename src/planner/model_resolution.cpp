#include <gpuplan/planner/estimate.hpp>

#include <gpuplan/base/text.hpp>

namespace gpuplan {
namespace {

template <class T>
T require(const Parsed<T>& parsed, std::string_view flag) {
  if (parsed.value) return *parsed.value;
  throw InputError(Problem{parsed.id, parsed.message, Place{std::string(flag), 0, 0}, parsed.expected, parsed.nearest, {}});
}

const ModelPreset& require_preset(const Catalog& catalog, const std::string& name) {
  if (name.empty()) {
    throw InputError(Problem{"input.missing", "no model given", Place{"--model", 0, 0},
                             "the name of a model (see 'gpuplan models')", {}, {}});
  }
  if (const ModelPreset* preset = catalog.find_model(name)) return *preset;
  throw InputError(Problem{"input.unknown_name", "unknown model '" + name + "'", Place{"--model", 0, 0},
                           "a name or alias from the catalogue (see 'gpuplan models')", catalog.nearest_model(name), {}});
}

}  // namespace

ServedModel serve_model(const Catalog& catalog, const JobSpec& job, const ModelPreset*& preset) {
  preset = &require_preset(catalog, job.model.value);
  ServedModel model;
  model.architecture = architecture_of(*preset);
  if (auto problems = check_architecture(model.architecture); !problems.empty()) throw InputError(std::move(problems));
  const std::string native = model.architecture.native_format.empty() ? "bf16" : model.architecture.native_format;
  model.scheme = require(parse_scheme(job.dtype.is_default ? native : job.dtype.value), "--dtype");
  model.kv = require(parse_kv_format(job.kv_dtype.value), "--kv-dtype");
  model.tensors = tensors_of(model.architecture);
  return model;
}

std::int64_t longest_context(InferenceMemoryInputs in) {
  const auto fits = [&](std::int64_t context) {
    in.request.context = context;
    return max_concurrency(in) >= 1;
  };
  std::int64_t low = 0;
  std::int64_t high = in.model->architecture.max_position > 0 ? in.model->architecture.max_position : 1 << 20;
  if (fits(high)) return high;
  while (high - low > 1) {  // fits(low) holds (or low is 0), fits(high) does not
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace gpuplan
