#include <gpuplan/planner/estimate.hpp>

#include "hardware.hpp"
#include "offers.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/deploy/engine_release.hpp>
#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/planner/duty.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace gpuplan {
namespace {

constexpr std::array<std::pair<SortBy, std::string_view>, 4> kSorts = {
    {{SortBy::cost, "cost"}, {SortBy::time, "time"}, {SortBy::pareto, "pareto"}, {SortBy::price, "price"}}};

std::shared_ptr<const Engine> require_engine(const Catalog& catalog, const JobSpec& job) {
  if (const auto engine = find_engine_release(catalog, job.engine.value)) return std::make_shared<Engine>(*engine);
  std::vector<std::string> names;
  for (const Engine& engine : catalog.engines()) names.emplace_back(engine.name);
  throw InputError(Problem{"input.unknown_name",
                           "unknown engine '" + job.engine.value + "'",
                           Place{"--engine", 0, 0},
                           join(names, ", "),
                           catalog.nearest_engine(job.engine.value),
                           {}});
}

// One that computes layers where they are.
std::string hosting_engine(const Catalog& catalog) {
  for (const Engine& engine : catalog.engines()) {
    if (!engine.preallocates && engine.graph_tokens.known()) return std::string(engine.name);
  }
  return "one of 'gpuplan help memory'";
}

void check(const Catalog& catalog, const EstimateRequest& request, const Engine& engine,
           const Architecture& architecture) {
  auto problems = check_job(request.job);
  if (request.job.type.value != JobType::serve && request.job.type.value != JobType::batch) {
    problems.push_back({"job.not_modelled",
                        "job '" + std::string(to_string(request.job.type.value)) + "' is not modelled yet",
                        Place{"--job", 0, 0},
                        "serve, batch",
                        {},
                        {}});
  }
  if (!request.currency.empty() && !catalog.find_currency(request.currency)) {
    problems.push_back({"input.unknown_name",
                        "unknown currency '" + std::string(request.currency) + "'",
                        Place{"--currency", 0, 0},
                        "a currency of the catalogue",
                        catalog.nearest_currency(request.currency),
                        {}});
  }
  if (request.job.residency.uses_host() && engine.preallocates) {
    problems.push_back({"input.contradiction",
                        "the engine '" + std::string(engine.name) + "' keeps all layers and its cache on its devices",
                        Place{"--engine", 0, 0},
                        "an engine that can work from host memory, such as " + hosting_engine(catalog),
                        {},
                        {}});
  }
  const std::int64_t longest = architecture.max_position;
  if (longest > 0 && request.job.context.value > longest) {
    problems.push_back({"input.out_of_range",
                        "context " + format_whole(static_cast<double>(request.job.context.value)) +
                            " exceeds the model's " + format_whole(static_cast<double>(longest)) + " positions",
                        Place{"--context", 0, 0},
                        "at most " + std::to_string(longest),
                        {},
                        {}});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

bool selected(const EstimateRequest& request, const Accelerator& accelerator) {
  return request.accelerators.empty() || std::find(request.accelerators.begin(), request.accelerators.end(),
                                                   &accelerator) != request.accelerators.end();
}

// A layout with the replicas that carry the demand.
struct Carrying {
  LayoutFit fit;
  std::int64_t demand = 1;  // a replica
  [[nodiscard]] std::int64_t devices() const { return fit.layout.devices(); }
};

Carrying carry(LayoutFit fit, std::int64_t concurrency, std::optional<std::int64_t> count) {
  fit.layout.dp = (concurrency + fit.max_concurrency - 1) / fit.max_concurrency;
  if (count)
    fit.layout.dp = std::max(fit.layout.dp, *count / fit.layout.devices_per_replica());  // all that are there serve
  return {fit, (concurrency + fit.layout.dp - 1) / fit.layout.dp};
}

// The fewest devices that carry the demand, in one host a replica if that is possible; with a given number the layout that
// uses most of it, and of those the widest.
std::optional<Carrying> smallest_layout(HardwareTable& table, const Accelerator& accelerator,
                                        const EstimateRequest& request) {
  const std::int64_t host = table.devices_per_host(accelerator);
  const std::int64_t inside = request.count ? std::min(*request.count, host) : host;
  for (const auto& fits : {table.layouts_inside(accelerator, inside), table.layouts_across(accelerator, host)}) {
    std::optional<Carrying> best;
    for (const LayoutFit& fit : fits) {
      const Carrying candidate = carry(fit, request.job.concurrency.value, request.count);
      if (request.count && candidate.devices() > *request.count) continue;
      const bool better =
          !best || (request.count ? candidate.devices() >= best->devices() : candidate.devices() < best->devices());
      if (better) best = candidate;
    }
    if (best) return best;
  }
  return std::nullopt;
}

Rejection too_small(HardwareTable& table, const Accelerator& accelerator, const EstimateRequest& request) {
  const std::int64_t host = request.count.value_or(table.devices_per_host(accelerator));
  Layout layout{std::max<std::int64_t>(1, host), 1, 1};
  const InferenceMemory memory = inference_memory(table.memory_inputs(accelerator, layout), 1, nullptr);
  for (const LayoutFit& fit : table.layouts_inside(accelerator, host)) {
    const Carrying needed = carry(fit, request.job.concurrency.value, std::nullopt);
    return {"count",
            format_whole(static_cast<double>(needed.devices())) + " devices for " +
                format_whole(static_cast<double>(request.job.concurrency.value)) + " requests at once",
            std::to_string(host), "a larger --count, or a smaller --concurrency"};
  }
  return {"memory", format_binary_bytes(memory.terms.total()) + " a device over " + std::to_string(host),
          format_binary_bytes(memory.capacity),
          request.count ? "a larger --count, or a smaller --dtype" : "a smaller --dtype or --context"};
}

std::vector<HardwareFit> fit_hardware(const Catalog& catalog, const EstimateRequest& request, HardwareTable& table) {
  std::vector<HardwareFit> fits;
  for (const Accelerator& accelerator : catalog.accelerators()) {
    if (!selected(request, accelerator)) continue;
    HardwareFit fit;
    fit.accelerator = &accelerator;
    fit.rejection = table.rejection(accelerator);
    if (!fit.rejection) {
      if (const auto smallest = smallest_layout(table, accelerator, request)) {
        fit.layout = smallest->fit.layout;
        fit.max_concurrency = smallest->fit.max_concurrency;
        fit.demand = smallest->demand;
        fit.memory = inference_memory(table.memory_inputs(accelerator, fit.layout), fit.demand, nullptr);
      } else {
        fit.rejection = too_small(table, accelerator, request);
      }
    }
    fits.push_back(std::move(fit));
  }
  std::stable_sort(fits.begin(), fits.end(), [](const HardwareFit& a, const HardwareFit& b) {
    if (a.rejection.has_value() != b.rejection.has_value()) return b.rejection.has_value();
    return a.layout.devices() < b.layout.devices();
  });
  return fits;
}

void time_hardware(const Catalog& catalog, const ServingJob& job, const Ceilings& ceilings,
                   std::vector<HardwareFit>& fits) {
  std::vector<ServingCandidate> candidates;
  for (const HardwareFit& fit : fits) {
    if (fit.rejection) continue;
    Fabric fabric = fabric_of(catalog, *fit.accelerator, {}, {}, fit.layout.tp);
    fabric.between = fabric.inside;  // no offer, so no network: stages are taken to share a host
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
  std::vector<Warning> warnings = estimate.identity.warnings;
  const Architecture& architecture = estimate.model.architecture;
  if (windowed_layers(architecture) > 0 && !estimate.engine->windowed_kv) {
    warnings.push_back(
        {"memory.windows", std::string(estimate.engine->title) + " keeps the whole context of the " +
                               std::to_string(windowed_layers(architecture)) + " layers with a window of " +
                               format_whole(kv_layers(architecture, 1).window) + " tokens, as far as its data says"});
  }
  if (estimate.options.empty()) return warnings;
  const Option& best = estimate.options.front();
  if (best.memory.verdict == FitVerdict::tight) {
    warnings.push_back({"memory.tight", "the first option fits only if no overhead is above its estimate"});
  }
  constexpr std::int64_t kOldPriceDays = 90;  // price lists are revised by the quarter
  if (best.price_age_days && *best.price_age_days > kOldPriceDays) {
    warnings.push_back(
        {"price.old", "the price of the first option is " + std::to_string(*best.price_age_days) + " days old"});
  }
  if (best.offer->confidence != Confidence::published) {
    warnings.push_back({"price.confidence", "the price of the first option is not from the provider's own page (" +
                                                std::string(to_string(best.offer->confidence)) + ")"});
  }
  if (best.count_is_assumed) {
    warnings.push_back({"count.assumed", "the price of the first option is of one device; that " +
                                             std::to_string(best.devices) + " share a host at that price is assumed"});
  }
  std::set<std::string_view> currencies = {request.currency};
  std::int64_t without_vat = 0;
  for (const Option& option : estimate.options) {
    currencies.insert(option.offer->currency);
    const bool rate_needed = (option.offer->vat == Vat::included) != request.vat.adds;
    if (rate_needed && !option.provider->vat_percent.known()) ++without_vat;
  }
  if (without_vat > 0) {
    warnings.push_back({"vat.unknown_rate", "the VAT rate of " + std::to_string(without_vat) + " of " +
                                                std::to_string(estimate.options.size()) +
                                                " options is unknown: they are shown as listed"});
  }
  for (const std::string_view code : currencies) {
    const CurrencyRate* rate = catalog.find_currency(code);
    if (currencies.size() < 2 || rate->per_usd.mark != Mark::from_memory) continue;
    warnings.push_back({"currency.unverified", "the exchange rate of " + std::string(code) + " is unverified"});
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
  return Parsed<SortBy>::fail("unknown order '" + std::string(text) + "'", "cost, time, pareto, price",
                              nearest_name(text, names), "input.unknown_name");
}

namespace {

Estimate fit_job_within(const Catalog& catalog, const EstimateRequest& request, const Ceilings& ceilings) {
  Estimate estimate;
  estimate.model = request.model ? serve_model(request.job, *request.model, estimate.identity)
                                 : serve_model(catalog, request.job, request.hub, estimate.identity);
  add_company(catalog, request.job, request.hub, estimate.model);
  estimate.engine_release = require_engine(catalog, request.job);
  estimate.engine = estimate.engine_release.get();
  estimate.request = request_shape(request.job);
  check(catalog, request, *estimate.engine, estimate.model.architecture);
  HardwareTable table(catalog, request, estimate.model, *estimate.engine, ceilings);
  estimate.hardware = fit_hardware(catalog, request, table);
  // Times know of no host memory, no draft and no neighbours.
  if (request.job.residency.is_plain())
    time_hardware(catalog, {&estimate.model, estimate.engine, estimate.request}, ceilings, estimate.hardware);
  return estimate;
}

}  // namespace

Estimate fit_job(const Catalog& catalog, const EstimateRequest& request) {
  Estimate estimate = fit_job_within(catalog, request, Ceilings(catalog));
  estimate.warnings = warnings_of(catalog, request, estimate);
  return estimate;
}

Estimate make_estimate(const Catalog& catalog, const EstimateRequest& request) {
  const Ceilings ceilings(catalog);
  Estimate estimate = fit_job_within(catalog, request, ceilings);
  const ServingJob job{&estimate.model, estimate.engine, estimate.request};
  HardwareTable table(catalog, request, estimate.model, *estimate.engine, ceilings);
  estimate.options = plan_offers(catalog, request, job, ceilings, table, estimate.rejected);
  apply_duty(catalog, request, weights_of(estimate.model), estimate.options);
  rank_options(estimate.options, request.sort);
  if (!estimate.options.empty()) {
    const Option& best = estimate.options.front();
    estimate.longest_context = longest_context(table.memory_inputs(*best.accelerator, best.layout));
  }
  estimate.warnings = warnings_of(catalog, request, estimate);
  warn_of_duty(catalog, request, estimate, estimate.warnings);
  return estimate;
}

void explain_option(const Catalog& catalog, const EstimateRequest& request, const Estimate& estimate,
                    const Option& option, Explain& why) {
  const Ceilings ceilings(catalog);
  HardwareTable table(catalog, request, estimate.model, *estimate.engine, ceilings);
  (void)inference_memory(table.memory_inputs(*option.accelerator, option.layout), option.demand, &why);
  const ServingJob job{&estimate.model, estimate.engine, estimate.request};
  (void)serving_time(job, {option.accelerator, option.fabric, option.layout, option.load}, ceilings, &why);
  (void)hourly_cost(catalog, {option.provider, option.offer, option.instances, request.currency, request.vat}, &why);
}

}  // namespace gpuplan
