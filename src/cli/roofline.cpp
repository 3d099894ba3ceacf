#include "resolve.hpp"

#include <gpuplan/planner/roofline.hpp>
#include <gpuplan/report/build.hpp>

namespace gpuplan::cli {

Outcome run_roofline(const Options& options, const Environment& environment) {
  constexpr int kNoPlan = 3;
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  EstimateRequest request = resolve_request(catalog, options, environment, Prices::unused, outcome.notices);
  if (request.accelerators.empty()) {
    throw InputError(
        Problem{"input.missing_key", "no accelerator", Place{"--gpu", 0, 0}, "one name (see 'gpuplan gpus')", {}, {}});
  }
  if (request.accelerators.size() > 1) {
    outcome.notices.push_back("the first of " + std::to_string(request.accelerators.size()) +
                              " is shown: " + std::string(request.accelerators.front()->name));
    request.accelerators.resize(1);
  }
  RooflineDocument document =
      report_roofline(catalog, plan_roofline(catalog, request, options.explain), options.explain);
  if (!document.rejected.empty()) outcome.status = kNoPlan;
  outcome.document = std::move(document);
  return outcome;
}

}  // namespace gpuplan::cli
