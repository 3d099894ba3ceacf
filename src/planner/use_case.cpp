#include <gpuplan/planner/use_case.hpp>

#include <gpuplan/base/error.hpp>
#include <gpuplan/base/text.hpp>

#include <string>
#include <vector>

namespace gpuplan {
namespace {

void take(Setting<std::int64_t>& setting, const Fact<std::int64_t>& usual) {
  if (setting.is_default && usual.known()) setting.value = *usual;
}

template <class T>
void take(Chosen<T>& chosen, const Fact<T>& usual) {
  if (usual.known()) chosen.choose_default(*usual);
}

}  // namespace

void apply_use_case(const Catalog& catalog, JobSpec& job) {
  ServingLoad& load = job.load;
  if (load.use_case.empty()) return;
  const UseCase* use = catalog.find_use_case(load.use_case);
  if (!use) {
    std::vector<std::string> names;
    for (const UseCase& known : catalog.use_cases()) names.emplace_back(known.name);
    throw InputError(Problem{"input.unknown_name",
                             "unknown use case '" + load.use_case + "'",
                             Place{"--use-case", 0, 0},
                             join(names, ", "),
                             catalog.nearest_use_case(load.use_case),
                             {}});
  }
  load.use_case = use->name;
  take(job.input, use->input);
  take(job.output, use->output);
  if (load.users) {
    take(load.active_share, use->active_share);
    take(load.think, use->think);
  }
  take(load.prefix_hit, use->prefix_hit);
  take(load.targets.ttft, use->ttft);
  take(load.targets.tpot, use->tpot);
  take(load.targets.e2e, use->e2e);
}

}  // namespace gpuplan
