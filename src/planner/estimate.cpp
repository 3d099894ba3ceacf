#include <gpuplan/planner/estimate.hpp>

#include "hardware.hpp"
#include "offers.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace gpuplan {
namespace {

constexpr std::array<std::pair<SortBy, std::string_view>, 3> kSorts = {
    {{SortBy::cost, "cost"}, {SortBy::time, "time"}, {SortBy::pareto, "pareto"}}};

const Engine& require_engine(const Catalog& catalog, const JobSpec& job) {
  if (const Engine* engine = catalog.find_engine(job.engine.value)) return *engine;
  std::vector<std::string> names;
  for (const Engine& engine : catalog.engines()) names.emplace_back(engine.name);
  throw InputError(Problem{"input.unknown_name", "unknown engine '" + job.engine.value + "'", Place{"--engine", 0, 0},
                           join(names, ", "), catalog.nearest_engine(job.engine.value), {}});
}

void check(const Catalog& catalog, const EstimateRequest& request, const ModelPreset& preset) {
  auto problems = check_job(request.job);
  if (request.job.type.value != JobType::serve) {
    problems.push_back({"job.not_modelled", "job '" + std::string(to_string(request.job.type.value)) + "' is not modelled yet",
                        Place{"--job", 0, 0}, "serve", {}, {}});
  }
  if (!catalog.find_currency(request.currency)) {
    problems.push_back({"input.unknown_name", "unknown currency '" + std::string(request.currency) + "'", Place{"--currency", 0, 0},
                        "a currency of the catalogue", catalog.nearest_currency(request.currency), {}});
  }
  const std::int64_t longest = preset.max_position.or_else(0);
  if (longest > 0 && request.job.context.value > longest) {
    problems.push_back({"input.out_of_range",
                        "context " + format_whole(static_cast<double>(request.job.context.value)) + " exceeds the model's " +
                            format_whole(static_cast<double>(longest)) + " positions",
                        Place{"--context", 0, 0}, "at most " + std::to_string(longest), {}, {}});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

bool selected(const EstimateRequest& request, const Accelerator& accelerator) {
  return request.accelerators.empty() ||
         std::find(request.accelerators.begin(), request.accelerators.end(), &accelerator) != request.accelerators.end();
}

// The smallest layout in one host, else over hosts; with a given number the one that uses most of it.
std::optional<LayoutFit> smallest_layout(HardwareTable& table, const Accelerator& accelerator, std::optional<std::int64_t> count) {
  const std::int64_t host = table.devices_per_host(accelerator);
  const auto inside = table.layouts_inside(accelerator, count ? std::min(*count, host) : host);
  if (!inside.empty()) return count ? inside.back() : inside.front();
  for (const LayoutFit& fit : table.layouts_across(accelerator, host)) {
    if (!count || fit.layout.devices_per_replica() <= *count) return fit;
  }
  return std::nullopt;
}

Rejection too_small(HardwareTable& table, const Accelerator& accelerator, const EstimateRequest& request) {
  const std::int64_t host = request.count.value_or(table.devices_per_host(accelerator));
  Layout layout{std::max<std::int64_t>(1, host), 1, 1};
  const InferenceMemory memory = inference_memory(table.memory_inputs(accelerator, layout), 1, nullptr);
  return {"memory", format_binary_bytes(memory.terms.total()) + " a device over " + std::to_string(host),
          format_binary_bytes(memory.capacity), request.count ? "a larger --count, or a smaller --dtype" : "a smaller --dtype or --context"};
}

std::vector<HardwareFit> fit_hardware(const Catalog& catalog, const EstimateRequest& request, HardwareTable& table) {
  std::vector<HardwareFit> fits;
  for (const Accelerator& accelerator : catalog.accelerators()) {
    if (!selected(request, accelerator)) continue;
    HardwareFit fit;
    fit.accelerator = &accelerator;
    fit.rejection = table.rejection(accelerator);
    if (!fit.rejection) {
      if (const auto smallest = smallest_layout(table, accelerator, request.count)) {
        fit.layout = smallest->layout;
        fit.max_concurrency = smallest->max_concurrency;
        const std::int64_t sequences = std::min(request.job.concurrency.value, smallest->max_concurrency);
        fit.memory = inference_memory(table.memory_inputs(accelerator, fit.layout), sequences, nullptr);
      } else {
        fit.rejection = too_small(table, accelerator, request);
      }
    }
    fits.push_back(std::move(fit));
  }
  std::stable_sort(fits.begin(), fits.end(), [](const HardwareFit& a, const HardwareFit& b) {
    if (a.rejection.has_value() != b.rejection.has_value()) return b.rejection.has_value();
    return a.layout.devices_per_replica() < b.layout.devices_per_replica();
  });
  return fits;
}

void time_hardware(const Catalog& catalog, const ServingJob& job, const Ceilings& ceilings, std::vector<HardwareFit>& fits) {
  std::vector<ServingCandidate> candidates;
  for (const HardwareFit& fit : fits) {
    if (fit.rejection) continue;
    const Fabric fabric = fabric_of(catalog, *fit.accelerator, {}, {}, fit.layout.tp);
    candidates.push_back({fit.accelerator, fabric, fit.layout, 1});
    candidates.push_back({fit.accelerator, fabric, fit.layout, static_cast<double>(fit.max_concurrency)});
  }
  const auto times = serving_times(job, candidates, ceilings);
  std::size_t next = 0;
  for (HardwareFit& fit : fits) {
    if (fit.rejection) continue;
    fit.alone = times[next++];
    fit.loaded = times[next++];
  }
}

std::vector<Warning> warnings_of(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate) {
  std::vector<Warning> warnings;
  const std::string& asked = request.job.model.value;
  if (lookup_key(asked) != lookup_key(estimate.preset->name)) {
    warnings.push_back({"model.alias", "'" + asked + "' is taken as " + std::string(estimate.preset->name)});
  }
  if (estimate.options.empty()) return warnings;
  const Option& best = estimate.options.front();
  if (best.memory.verdict == FitVerdict::tight) {
    warnings.push_back({"memory.tight", "the first option fits only if no overhead is above its estimate"});
  }
  if (best.price_age_days && *best.price_age_days > 90) {
    warnings.push_back({"price.old", "the price of the first option is " + std::to_string(*best.price_age_days) + " days old"});
  }
  if (best.offer->confidence != Confidence::published) {
    warnings.push_back({"price.confidence", "the price of the first option is not from the provider's own page (" +
                                                std::string(to_string(best.offer->confidence)) + ")"});
  }
  if (const CurrencyRate* rate = catalog.find_currency(request.currency); rate && rate->per_usd.mark == Mark::from_memory) {
    warnings.push_back({"currency.unverified", "the rate of " + std::string(rate->currency) + " is unverified"});
  }
  return warnings;
}

}  // namespace

std::string_view to_string(SortBy value) {
  for (const auto& [sort, name] : kSorts) {
    if (sort == value) return name;
  }
  return "cost";
}

Parsed<SortBy> parse_sort(std::string_view text) {
  std::vector<std::string_view> names;
  for (const auto& [sort, name] : kSorts) {
    if (name == text) return Parsed<SortBy>::ok(sort);
    names.push_back(name);
  }
  return Parsed<SortBy>::fail("unknown order '" + std::string(text) + "'", "cost, time, pareto", nearest_name(text, names),
                              "input.unknown_name");
}

Estimate fit_job(const Catalog& catalog, const EstimateRequest& request) {
  Estimate estimate;
  estimate.model = serve_model(catalog, request.job, estimate.preset);
  estimate.engine = &require_engine(catalog, request.job);
  estimate.request = request_shape(request.job);
  check(catalog, request, *estimate.preset);
  HardwareTable table(catalog, request, estimate.model, *estimate.engine);
  estimate.hardware = fit_hardware(catalog, request, table);
  time_hardware(catalog, {&estimate.model, estimate.engine, estimate.request}, Ceilings(catalog), estimate.hardware);
  estimate.warnings = warnings_of(catalog, request, estimate);
  return estimate;
}

Estimate make_estimate(const Catalog& catalog, const EstimateRequest& request) {
  Estimate estimate = fit_job(catalog, request);
  const ServingJob job{&estimate.model, estimate.engine, estimate.request};
  HardwareTable table(catalog, request, estimate.model, *estimate.engine);
  estimate.options = plan_offers(catalog, request, job, Ceilings(catalog), table, estimate.rejected);
  rank_options(estimate.options, request.sort);
  if (!estimate.options.empty()) {
    const Option& best = estimate.options.front();
    estimate.longest_context = longest_context(table.memory_inputs(*best.accelerator, best.layout));
  }
  estimate.warnings = warnings_of(catalog, request, estimate);
  return estimate;
}

void explain_option(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate, const Option& option,
                    Explain& why) {
  HardwareTable table(catalog, request, estimate.model, *estimate.engine);
  (void)inference_memory(table.memory_inputs(*option.accelerator, option.layout), option.demand, &why);
  const ServingJob job{&estimate.model, estimate.engine, estimate.request};
  (void)serving_time(job, {option.accelerator, option.fabric, option.layout, option.load}, Ceilings(catalog), &why);
  (void)hourly_cost(catalog, {option.provider, option.offer, option.instances, request.currency, request.vat}, &why);
}

}  // namespace gpuplan
