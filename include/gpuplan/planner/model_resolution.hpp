#pragma once
/// From what people call a model to its network: a preset of the catalogue, files, a repository on the Hub.

#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/deploy/deployment.hpp>
#include <gpuplan/job/job.hpp>
#include <gpuplan/model/model_files.hpp>
#include <gpuplan/net/hub.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuplan {

struct Warning {
  std::string id;
  std::string message;
};

/// What a model is called and where it was read from.
struct ModelIdentity {
  std::string name;
  std::string source;                     ///< of the preset, or the path or repository
  std::string read_from;                  ///< `preset`, or which files: `config.json, headers of 4 safetensors files`
  std::vector<std::string> not_modelled;  ///< parts that the figures leave out
  std::vector<Warning> warnings;          ///< assumptions made while reading
};

/// Where repositories are asked for; called when one is. Empty: they are not looked up.
using HubAccess = std::function<HubSettings()>;

struct ResolvedModel {
  const ModelPreset* preset = nullptr;  ///< null: not from the catalogue
  ModelFiles files;
  ModelIdentity identity;
};

/// @param name  in this order: a preset or alias; `-`, a file or a folder; `org/name`, also `org/name@revision` and, of a
///              repository or folder with several GGUF files, `…:Q4_K_M`
/// Throws InputError: unknown names with the nearest preset, and what the readers of files and the network refuse.
ResolvedModel resolve_model(const Catalog& catalog, const std::string& name, const HubAccess& hub);

/// The job's draft model and the models beside it, each in its own format; adds them, and what of the model is in host memory, to
/// the model. Throws InputError: names that are unknown, more layers than there are, experts where there are none.
void add_company(const Catalog& catalog, const JobSpec& job, const HubAccess& hub, ServedModel& model);

/// The format that the model's own files or preset give its weights: bf16 when they do not say.
Scheme native_scheme(const ResolvedModel& model);

/// The format that a job asks for, else the model's own. Throws InputError.
Scheme scheme_of(const JobSpec& job, const ResolvedModel& model);

/// The model of a job with its formats resolved; formats that the job leaves open are the model's own.
/// Throws InputError, also for a network that does not generate token by token.
ServedModel serve_model(const Catalog& catalog, const JobSpec& job, const HubAccess& hub, ModelIdentity& identity);
/// The same of a model that was read already.
ServedModel serve_model(const JobSpec& job, ResolvedModel resolved, ModelIdentity& identity);

}  // namespace gpuplan
