#include "checks.hpp"
#include "resolve.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/report/build.hpp>

#include <algorithm>
#include <set>

namespace gpuplan::cli {
namespace {

constexpr int kDone = 0;
constexpr int kNoPlan = 3;

void check_names(const std::vector<std::string>& names) {
  std::set<std::string> keys;
  for (const std::string& name : names) {
    if (keys.insert(lookup_key(name)).second) continue;
    throw InputError(
        Problem{"input.contradiction", "'" + name + "' stands twice", std::nullopt, "each name once", {}, {}});
  }
  if (names.size() >= 2) return;
  throw InputError(Problem{"input.missing",
                           "nothing to compare",
                           std::nullopt,
                           "two or more providers, accelerators or offers, such as 'gpuplan compare L40S RTX4090'",
                           {},
                           {}});
}

}  // namespace

Outcome run_compare(const Options& options, const Environment& environment) {
  check_names(options.words);
  refuse_training_flags(options);
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices, Imported::all);
  const EstimateRequest request = resolve_request(catalog, options, environment, Prices::used, outcome.notices);
  const std::vector<ComparedOffer> offers = compare_offers(catalog, request, options.words);
  const bool has_job = !options.job.model.value.empty();
  const bool any = std::any_of(offers.begin(), offers.end(), [&](const ComparedOffer& one) {
    return one.offer != nullptr && (!has_job || one.option.has_value());
  });
  outcome.status = any ? kDone : kNoPlan;
  outcome.document = report_compare(catalog, request, offers);
  return outcome;
}

}  // namespace gpuplan::cli
