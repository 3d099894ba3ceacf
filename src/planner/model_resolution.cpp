#include <gpuplan/planner/estimate.hpp>

#include <gpuplan/base/text.hpp>
#include <gpuplan/model/config.hpp>
#include <gpuplan/model/safetensors.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace gpuplan {
namespace {

template <class T>
T require(const Parsed<T>& parsed, std::string_view flag) {
  if (parsed.value) return *parsed.value;
  throw InputError(
      Problem{parsed.id, parsed.message, Place{std::string(flag), 0, 0}, parsed.expected, parsed.nearest, {}});
}

[[noreturn]] void refuse_name(const Catalog& catalog, const std::string& name) {
  if (name.empty()) {
    throw InputError(Problem{"input.missing",
                             "no model given",
                             Place{"--model", 0, 0},
                             "the name of a model (see 'gpuplan models'), or the path of a config.json",
                             {},
                             {}});
  }
  throw InputError(Problem{"input.unknown_name",
                           "unknown model '" + name + "'",
                           Place{"--model", 0, 0},
                           "a name or alias from the catalogue (see 'gpuplan models'), or the path of a config.json",
                           catalog.nearest_model(name),
                           {}});
}

// What a model's own files leave open stays with its formats' usual names.
std::string format_of(const ModelConfig& config) {
  if (!config.weights_scheme.empty()) return config.weights_scheme;
  if (config.torch_dtype == "float16") return "fp16";
  if (config.torch_dtype == "float32") return "fp32";
  return "bf16";
}

// Gives the architecture, and in `kv_format` the cache's own format where the files say one.
Architecture read_architecture(const std::string& path, ModelIdentity& identity, std::string& kv_format) {
  ModelConfig config = read_model_config_file(path);
  if (!config.network.decoder) {
    throw InputError(Problem{"model.not_modelled",
                             "not modelled: " + join(config.not_modelled, "; "),
                             Place{path, 0, 0},
                             "a decoder-only language model",
                             {},
                             {}});
  }
  identity.source = path;
  identity.name = config.network.decoder->name.empty() ? path : config.network.decoder->name;
  identity.not_modelled = config.not_modelled;
  for (const Problem& problem : config.warnings) identity.warnings.push_back({problem.id, problem.message});
  if (!config.not_modelled.empty()) {
    identity.warnings.push_back({"model.not_modelled", "not modelled: " + join(config.not_modelled, "; ")});
  }
  if (!config.quantization.empty() && config.weights_scheme.empty()) {
    identity.warnings.push_back({"model.unknown_quantization", "the quantization '" + config.quantization +
                                                                   "' is not one of ours: " + format_of(config) +
                                                                   " is taken unless --dtype says otherwise"});
  }
  kv_format = config.kv_format;
  config.network.decoder->native_format = format_of(config);
  return *config.network.decoder;
}

// What the weights beside a configuration take, by their headers; nothing when there are none.
std::optional<Bytes> stored_weights(const std::string& folder, ModelIdentity& identity) {
  namespace fs = std::filesystem;
  const std::string index = (fs::path(folder) / "model.safetensors.index.json").string();
  const std::string single = (fs::path(folder) / "model.safetensors").string();
  std::error_code error;
  try {
    if (fs::exists(index, error)) return bytes(static_cast<double>(read_safetensors_index(index).stored.total_size()));
    if (fs::exists(single, error)) return bytes(static_cast<double>(read_safetensors_header(single).total_size()));
  } catch (const InputError& missing) {
    // A folder with the small files alone is usual; anything else that is wrong with the weights is said as such.
    const bool only_absent = std::all_of(missing.problems().begin(), missing.problems().end(),
                                         [](const Problem& p) { return p.id == "input.missing_shard"; });
    if (!only_absent) throw;
    identity.warnings.push_back(
        {"model.no_weights", "the weights that '" + index + "' names are not there: they are counted, not read"});
  }
  return std::nullopt;
}

// Says where headers and tensor list differ; the headers are right.
void compare_weights(const ServedModel& model, ModelIdentity& identity) {
  if (!model.stored) return;
  const Bytes counted = weights_bytes(model.tensors, *model.scheme);
  constexpr double kWorthSaying = 0.005;
  if (std::abs(*model.stored / counted - 1) <= kWorthSaying) return;
  identity.warnings.push_back({"model.weights_differ", "the files hold " + format_bytes(*model.stored) +
                                                           " where the tensor list gives " + format_bytes(counted) +
                                                           ": the files are taken"});
}

}  // namespace

bool names_a_path(std::string_view model) {
  std::error_code error;
  return model == "-" || std::filesystem::exists(model, error) || model.substr(0, 1) == "/" ||
         model.substr(0, 2) == "./" || model.substr(0, 3) == "../" ||
         (model.size() > 5 && model.substr(model.size() - 5) == ".json");
}

ServedModel serve_model(const Catalog& catalog, const JobSpec& job, ModelIdentity& identity) {
  const std::string& name = job.model.value;
  ServedModel model;
  std::string kv_format;
  if (const ModelPreset* preset = catalog.find_model(name)) {
    model.architecture = architecture_of(*preset);
    identity.name = preset->name;
    identity.source = catalog.source(preset->source).text;
    if (lookup_key(name) != lookup_key(preset->name)) {
      identity.warnings.push_back({"model.alias", "'" + name + "' is taken as " + identity.name});
    }
  } else if (!name.empty() && names_a_path(name)) {
    model.architecture = read_architecture(name, identity, kv_format);
  } else {
    refuse_name(catalog, name);
  }
  if (auto problems = check_architecture(model.architecture); !problems.empty()) throw InputError(std::move(problems));
  const std::string native = model.architecture.native_format.empty() ? "bf16" : model.architecture.native_format;
  model.scheme = require(parse_scheme(job.dtype.is_default ? native : job.dtype.value), "--dtype");
  model.kv = require(parse_kv_format(job.kv_dtype.is_default && !kv_format.empty() ? kv_format : job.kv_dtype.value),
                     "--kv-dtype");
  model.tensors = tensors_of(model.architecture);
  std::error_code error;
  if (job.dtype.is_default && identity.source == name && std::filesystem::is_directory(name, error)) {
    model.stored = stored_weights(name, identity);
    compare_weights(model, identity);
  }
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
