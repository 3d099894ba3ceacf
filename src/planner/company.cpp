#include <gpuplan/planner/model_resolution.hpp>

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <utility>

namespace gpuplan {
namespace {

[[noreturn]] void refuse(std::string_view flag, std::string message, std::string expected) {
  throw InputError(
      Problem{"input.contradiction", std::move(message), Place{std::string(flag), 0, 0}, std::move(expected), {}, {}});
}

/// Another model, in its own format and with the job's cache format. Its flag stands where the problem is.
std::shared_ptr<const ServedModel> served(const Catalog& catalog, const JobSpec& job, const HubAccess& hub,
                                          const std::string& name, std::string_view flag) {
  JobSpec other = job;
  other.model = {name, false};
  other.dtype = {};
  other.residency = {};
  ModelIdentity identity;
  try {
    return std::make_shared<const ServedModel>(serve_model(catalog, other, hub, identity));
  } catch (const InputError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      if (problem.place && problem.place->origin == "--model") problem.place->origin = flag;
    }
    throw InputError(std::move(problems));
  }
}

}  // namespace

void add_company(const Catalog& catalog, const JobSpec& job, const HubAccess& hub, ServedModel& model) {
  const Residency& where = job.residency;
  const std::int64_t layers = model.architecture.layers;
  if (where.device_layers && *where.device_layers > layers + 1) {
    refuse("--gpu-layers", "the model has " + std::to_string(layers) + " layers and an output head",
           "a number from 0 to " + std::to_string(layers + 1));
  }
  if (where.host_expert_layers > 0 && std::none_of(model.tensors.begin(), model.tensors.end(),
                                                   [](const TensorGroup& t) { return t.role == TensorRole::expert; })) {
    refuse("--cpu-moe", "the model has no experts", "a mixture of experts as --model");
  }
  if (where.host_expert_layers > layers) {
    refuse("--cpu-moe", "the model has " + std::to_string(layers) + " layers",
           "a number from 1 to " + std::to_string(layers));
  }
  model.residency = where;
  if (!where.draft.empty()) {
    model.draft = served(catalog, job, hub, where.draft, "--draft");
    if (model.draft->architecture.vocab != model.architecture.vocab) {
      refuse("--draft",
             "the draft model has " + format_whole(static_cast<double>(model.draft->architecture.vocab)) +
                 " tokens in its vocabulary, the model " + format_whole(static_cast<double>(model.architecture.vocab)),
             "a model with the same tokenizer");
    }
  }
  for (const std::string& name : where.beside) model.neighbours.push_back(served(catalog, job, hub, name, "--beside"));
}

}  // namespace gpuplan
