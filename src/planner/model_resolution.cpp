#include <gpuplan/planner/model_resolution.hpp>

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

namespace gpuplan {
namespace {

constexpr double kWorthSaying = 0.005;  // a share of the weights

template <class T>
T require(const Parsed<T>& parsed, std::string_view flag) {
  if (parsed.value) return *parsed.value;
  throw InputError(
      Problem{parsed.id, parsed.message, Place{std::string(flag), 0, 0}, parsed.expected, parsed.nearest, {}});
}

/// A pair of formats (`q8_0/q4_0`) is their mean, which is right where keys are as wide as values.
void refuse_uneven_pair(const KvFormat& kv, const Architecture& architecture) {
  if (kv.name.find('/') == std::string_view::npos) return;
  const auto groups = mixers_of(architecture);
  const bool uneven = std::any_of(groups.begin(), groups.end(), [](const MixerGroup& group) {
    const Attention& a = group.attention;
    return a.heads > 0 && (a.has_latent_attention() || a.index_heads > 0 || a.head_dim != a.value_dim());
  });
  if (!uneven) return;
  throw InputError(Problem{"input.contradiction",
                           "keys and values of this model are not alike: a latent for both, or of different width",
                           Place{"--kv-dtype", 0, 0},
                           "one format",
                           std::string(kv.name.substr(0, kv.name.find('/'))),
                           {}});
}

[[noreturn]] void refuse_name(const Catalog& catalog, const std::string& name) {
  Problem p;
  p.id = name.empty() ? "input.missing" : "input.unknown_name";
  p.message = name.empty() ? "no model given" : "unknown model '" + name + "'";
  p.place = Place{"--model", 0, 0};
  p.expected =
      "a name or alias from the catalogue (see 'gpuplan models'), a file or folder, or org/name or hub:name on the Hub";
  if (!name.empty()) p.nearest = catalog.nearest_model(name);
  throw InputError(std::move(p));
}

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

/// Whether a name can only be meant as a path.
bool looks_like_path(std::string_view name) {
  const auto ends = [&](std::string_view suffix) { return name.ends_with(suffix); };
  return name.starts_with("/") || name.starts_with("./") || name.starts_with("../") || ends(".json") ||
         ends(".safetensors") || ends(".gguf") || ends(".onnx");
}

/// `folder:Q4_K_M` and `org/name:Q4_K_M`: the part before the last colon, and the choice.
std::pair<std::string, std::string> split_choice(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == kHubPrefix.size() - 1 && name.starts_with(kHubPrefix)) return {name, {}};
  if (colon == std::string::npos || colon + 1 == name.size() || name.find('/', colon) != std::string::npos)
    return {name, {}};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

/// What the configuration leaves open stays with its formats' usual names.
std::string format_of(const ModelConfig& config) {
  if (!config.weights_scheme.empty()) return config.weights_scheme;
  if (config.torch_dtype == "float16") return "fp16";
  if (config.torch_dtype == "float32") return "fp32";
  return "bf16";
}

void collect_notes(ResolvedModel& model) {
  const ModelConfig& config = model.files.config;
  ModelIdentity& identity = model.identity;
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
}

/// Where headers and formula disagree about the parameters, the headers are right.
void compare_parameters(ResolvedModel& model) {
  const std::int64_t held = model.files.parameters;
  const std::int64_t counted = parameters(model.files.config.network);
  if (held == 0 || counted == 0) return;
  const double ratio = static_cast<double>(held) / static_cast<double>(counted);
  if (std::abs(ratio - 1) <= kWorthSaying) return;
  model.identity.warnings.push_back(
      {"model.parameters_differ", "the headers hold " + format_whole(static_cast<double>(held)) +
                                      " parameters where the configuration gives " +
                                      format_whole(static_cast<double>(counted)) + ": the headers are taken"});
}

ResolvedModel from_files(ModelFiles files, const std::string& name) {
  ResolvedModel model;
  model.files = std::move(files);
  model.identity.source = name;
  model.identity.read_from = model.files.read_from;
  const Network& network = model.files.config.network;
  const std::string own = network.decoder ? network.decoder->name : network.name;
  model.identity.name = own.empty() ? name : own;
  collect_notes(model);
  compare_parameters(model);
  return model;
}

ResolvedModel from_preset(const Catalog& catalog, const ModelPreset& preset, const std::string& name) {
  ResolvedModel model;
  model.preset = &preset;
  model.files.config = read_model_preset(preset);
  model.identity.name = preset.name;
  model.identity.source = catalog.source(preset.source).text;
  model.identity.read_from = preset.config.empty() ? "preset" : "preset's configuration";
  model.files.read_from = model.identity.read_from;
  collect_notes(model);
  if (lookup_key(name) != lookup_key(preset.name)) {
    model.identity.warnings.push_back({"model.alias", "'" + name + "' is taken as " + model.identity.name});
  }
  return model;
}

/// Null when the network generates token by token.
std::string why_not_served(const ResolvedModel& model) {
  if (model.files.config.network.decoder) return {};
  if (model.files.config.network.parts.empty()) {
    return "not modelled: " + join(model.identity.not_modelled, "; ");
  }
  std::vector<std::string> parts;
  for (const NetworkPart& part : model.files.config.network.parts) parts.push_back(part.name);
  return "'" + model.identity.name + "' is no language model (" + join(parts, ", ") + "), which is what this plans for";
}

void add_parts(ServedModel& served) {
  for (const NetworkPart& part : served.network.parts) {
    if (!part.loaded || part.name == kLanguageModel) continue;
    for (TensorGroup tensor : part.tensors) {
      tensor.name = part.name + "." + tensor.name;
      tensor.keeps_precision = tensor.keeps_precision || !part.quantized;
      served.beside.push_back(std::move(tensor));
    }
  }
}

/// Says where headers and tensor list differ in bytes; the headers are right.
void compare_weights(const ServedModel& model, ModelIdentity& identity) {
  if (!model.stored || std::abs(*model.stored / counted_weights(model) - 1) <= kWorthSaying) return;
  identity.warnings.push_back(
      {"model.weights_differ", "the files hold " + format_bytes(*model.stored) + " where the tensor list gives " +
                                   format_bytes(counted_weights(model)) + ": the files are taken"});
}

}  // namespace

ResolvedModel resolve_model(const Catalog& catalog, const std::string& name, const HubAccess& hub) {
  const bool on_hub = name.starts_with(kHubPrefix);
  if (const ModelPreset* preset = on_hub ? nullptr : catalog.find_model(name))
    return from_preset(catalog, *preset, name);
  if (!on_hub && (name == "-" || exists(name))) return from_files(read_model_file(name), name);
  const auto [place, choice] = split_choice(name);
  if (!on_hub && !choice.empty() && is_folder(place))
    return from_files(read_model_files(*open_folder(place), choice), name);
  if (!on_hub && looks_like_path(name)) return from_files(read_model_file(name), name);  // says that it is not there
  if (!hub || !looks_like_repository(place)) refuse_name(catalog, name);
  return from_files(read_model_files(*open_hub_repository(hub(), place), choice), name);
}

Scheme native_scheme(const ResolvedModel& model) {
  const Network& network = model.files.config.network;
  std::string native = network.decoder ? network.decoder->native_format : std::string();
  if (!model.preset || native.empty()) native = format_of(model.files.config);
  return require(parse_scheme(native), "--dtype");
}

Scheme scheme_of(const JobSpec& job, const ResolvedModel& model) {
  return job.dtype.is_default ? native_scheme(model) : require(parse_scheme(job.dtype.value), "--dtype");
}

ServedModel serve_model(const Catalog& catalog, const JobSpec& job, const HubAccess& hub, ModelIdentity& identity) {
  return serve_model(job, resolve_model(catalog, job.model.value, hub), identity);
}

ServedModel serve_model(const JobSpec& job, ResolvedModel resolved, ModelIdentity& identity) {
  if (const std::string why = why_not_served(resolved); !why.empty()) {
    Problem p;
    p.id = "model.not_modelled";
    p.message = why;
    p.place = Place{"--model", 0, 0};
    p.expected =
        "a language model that generates token by token; 'gpuplan estimate' and 'memory' plan inference of any network";
    throw InputError(std::move(p));
  }
  identity = resolved.identity;
  ServedModel model;
  model.scheme = scheme_of(job, resolved);
  model.is_native = job.dtype.is_default || model.scheme.name == native_scheme(resolved).name;
  model.network = std::move(resolved.files.config.network);
  model.architecture = *model.network.decoder;
  if (auto problems = check_architecture(model.architecture); !problems.empty()) throw InputError(std::move(problems));
  const std::string& kv = resolved.files.config.kv_format;
  model.kv = require(parse_kv_format(job.kv_dtype.is_default && !kv.empty() ? kv : job.kv_dtype.value), "--kv-dtype");
  refuse_uneven_pair(*model.kv, model.architecture);
  model.tensors = tensors_of(model.architecture);
  // What a checkpoint keeps unquantized says nothing of a format that was asked for instead.
  const std::vector<ModuleRule> none;
  model.scheme = resolve_scheme(std::move(model.scheme), model.architecture, model.tensors,
                                job.dtype.is_default ? resolved.files.config.module_rules : none);
  add_parts(model);
  if (job.dtype.is_default && resolved.files.stored) {
    model.stored = bytes(static_cast<double>(resolved.files.stored->total_size()));
    compare_weights(model, identity);
  }
  return model;
}

}  // namespace gpuplan
