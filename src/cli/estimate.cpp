#include "resolve.hpp"

#include <gpuplan/report/build.hpp>

#include <algorithm>

namespace gpuplan::cli {
namespace {

constexpr int kDone = 0;
constexpr int kNoPlan = 3;

}  // namespace

Outcome run_estimate(const Options& options, const Environment& environment) {
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  const EstimateRequest request = resolve_request(catalog, options, environment, Prices::used, outcome.notices);
  const Estimate estimate = make_estimate(catalog, request);
  EstimateDocument document = report_estimate(catalog, request, estimate, options.explain);
  if (options.top) {
    document.shown_rows = *options.top;
    document.best_of_each_provider = false;
    const auto rows = static_cast<std::size_t>(*options.top);
    if (*options.top > 0 && options.format != Format::table && document.options.size() > rows)
      document.options.resize(rows);
  }
  for (const NoticeDocument& warning : document.warnings) outcome.notices.push_back(warning.message);
  outcome.status = estimate.options.empty() ? kNoPlan : kDone;
  outcome.document = std::move(document);
  return outcome;
}

Outcome run_memory(const Options& options, const Environment& environment) {
  Outcome outcome;
  const Catalog catalog = load_layers(options, environment, outcome.notices);
  const EstimateRequest request = resolve_request(catalog, options, environment, Prices::unused, outcome.notices);
  const Estimate estimate = fit_job(catalog, request);
  MemoryReport document = report_memory(catalog, request, estimate, options.explain);
  document.shown_rows = options.top.value_or(0);
  const auto rows = static_cast<std::size_t>(document.shown_rows);
  if (rows > 0 && options.format != Format::table && document.hardware.size() > rows) document.hardware.resize(rows);
  const bool runs = std::any_of(document.hardware.begin(), document.hardware.end(),
                                [](const HardwareDocument& h) { return h.memory.has_value(); });
  for (const Warning& warning : estimate.warnings) outcome.notices.push_back(warning.message);
  outcome.status = runs ? kDone : kNoPlan;
  outcome.document = std::move(document);
  return outcome;
}

}  // namespace gpuplan::cli
