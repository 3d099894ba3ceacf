#include "resolve.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/planner/topology.hpp>
#include <gpuplan/report/build.hpp>

namespace gpuplan::cli {
namespace {

const NodeDesign* resolve_node(const Catalog& catalog, const std::string& name) {
  if (name.empty()) return nullptr;
  if (const NodeDesign* node = catalog.find_node(name)) return node;
  std::vector<std::string_view> names;
  for (const NodeDesign& node : catalog.nodes()) names.push_back(node.name);
  const std::vector<std::string> all(names.begin(), names.end());
  throw InputError(Problem{"input.unknown_name",
                           "unknown node design '" + name + "'",
                           Place{"--node", 0, 0},
                           join(all, ", "),
                           nearest_name(name, names),
                           {}});
}

[[noreturn]] void refuse(std::string id, std::string message, std::string flag, std::string expected) {
  throw InputError(
      Problem{std::move(id), std::move(message), Place{std::move(flag), 0, 0}, std::move(expected), {}, {}});
}

TopologyRequest resolve_topology(const Catalog& catalog, const Options& options, const Environment& environment,
                                 std::vector<std::string>& notices) {
  TopologyRequest request;
  request.node = resolve_node(catalog, options.node);
  request.count = options.count.value_or(0);
  request.oversubscription = options.oversubscription;
  constexpr double kThinnest = 1e6;
  if (request.oversubscription < 1 || request.oversubscription > kThinnest)
    refuse("input.out_of_range", "no network is oversubscribed by " + format_shortest(request.oversubscription),
           "--oversubscription", "1 to 1,000,000");
  const auto chosen = resolve_filter(catalog, options, environment, Prices::unused, notices).accelerators;
  if (!chosen.empty()) request.accelerator = chosen.front();
  if (chosen.size() > 1)
    notices.push_back("the first of " + std::to_string(chosen.size()) +
                      " is shown: " + std::string(chosen.front()->name));
  if (!request.accelerator && request.node && !request.node->accelerators.empty())
    request.accelerator = catalog.find_accelerator(request.node->accelerators.front());
  if (!request.accelerator)
    refuse("input.missing_key", "no accelerator", "--gpu", "--gpu with a name, or --node with a design");
  return request;
}

}  // namespace

Outcome run_topology(const Options& options, const Environment& environment) {
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  const TopologyRequest request = resolve_topology(catalog, options, environment, outcome.notices);
  outcome.document = report_topology(catalog, request, plan_topology(catalog, request), options.explain);
  return outcome;
}

}  // namespace gpuplan::cli
