#include <gpuplan/planner/estimate.hpp>

#include "hardware.hpp"
#include "jobs.hpp"
#include "offers.hpp"
#include "replica_load.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/deploy/engine_release.hpp>
#include <gpuplan/model/kv_cache.hpp>
#include <gpuplan/planner/duty.hpp>

#include <algorithm>
#include <array>
#include <cmath>
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
  double most_running = 1;  // within the targets
  [[nodiscard]] std::int64_t devices() const { return fit.layout.devices(); }
};

// Fits layouts of one accelerator to the load.
struct Carrier {
  const Catalog& catalog;
  const Accelerator& accelerator;
  LoadPlanner& loads;

  [[nodiscard]] Replica replica(const LayoutFit& fit) const {
    Fabric fabric;
    if (!loads.is_plain()) fabric = fabric_without_offer(catalog, accelerator, fit.layout);
    return {&accelerator, fabric, fit.layout, fit.max_concurrency};
  }
  // Empty: a target is missed even by one request.
  [[nodiscard]] std::optional<Carrying> carry(LayoutFit fit, std::optional<std::int64_t> count) const {
    const Replica one = replica(fit);
    const ReplicaLimit limit = loads.limit(one);
    if (limit.rejection) return std::nullopt;
    fit.layout.dp = loads.replicas(limit);
    if (count)
      fit.layout.dp = std::max(fit.layout.dp, *count / fit.layout.devices_per_replica());  // all that are there serve
    const ReplicaLoad load = loads.load_of(one, fit.layout.dp - loads.spare());
    return Carrying{fit, std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(load.running))),
                    limit.load.running};
  }
};

// The fewest devices that carry the demand, in one host a replica if that is possible; with a given number the layout that
// uses most of it, and of those the widest.
std::optional<Carrying> smallest_layout(HardwareTable& table, const Carrier& carrier, const EstimateRequest& request) {
  const Accelerator& accelerator = carrier.accelerator;
  const std::int64_t host = table.devices_per_host(accelerator);
  const std::int64_t inside = request.count ? std::min(*request.count, host) : host;
  for (const bool across : {false, true}) {
    std::optional<Carrying> best;
    for (const LayoutFit& fit :
         across ? table.layouts_across(accelerator, host) : table.layouts_inside(accelerator, inside)) {
      const auto carrying = carrier.carry(fit, request.count);
      if (!carrying || (request.count && carrying->devices() > *request.count)) continue;
      const Carrying& candidate = *carrying;
      const bool better =
          !best || (request.count ? candidate.devices() >= best->devices() : candidate.devices() < best->devices());
      if (better) best = candidate;
    }
    if (best) return best;
  }
  return std::nullopt;
}

Rejection too_small(HardwareTable& table, const Carrier& carrier, const EstimateRequest& request) {
  const Accelerator& accelerator = carrier.accelerator;
  const std::int64_t host = request.count.value_or(table.devices_per_host(accelerator));
  Layout layout{std::max<std::int64_t>(1, host), 1, 1};
  const InferenceMemory& memory = table.footprint(accelerator, layout, 1);
  std::optional<Rejection> slow;
  for (const LayoutFit& fit : table.layouts_inside(accelerator, host)) {
    const auto needed = carrier.carry(fit, std::nullopt);
    if (!needed) {
      slow = carrier.loads.limit(carrier.replica(fit)).rejection;
      continue;
    }
    return {"count",
            format_whole(static_cast<double>(needed->devices())) + " devices for " + carrier.loads.demand_words(),
            std::to_string(host), "a larger --count, or a smaller " + std::string(carrier.loads.demand_flag())};
  }
  if (slow) return *slow;
  return {"memory", format_binary_bytes(memory.terms.total()) + " a device over " + std::to_string(host),
          format_binary_bytes(memory.capacity),
          request.count ? "a larger --count, or a smaller --dtype" : "a smaller --dtype or --context"};
}

std::vector<HardwareFit> fit_hardware(const Catalog& catalog, const EstimateRequest& request, HardwareTable& table,
                                      LoadPlanner& loads) {
  std::vector<HardwareFit> fits;
  for (const Accelerator& accelerator : catalog.accelerators()) {
    if (!selected(request, accelerator)) continue;
    HardwareFit fit;
    fit.accelerator = &accelerator;
    fit.rejection = table.rejection(accelerator);
    if (!fit.rejection) {
      const Carrier carrier{catalog, accelerator, loads};
      if (const auto smallest = smallest_layout(table, carrier, request)) {
        fit.layout = smallest->fit.layout;
        fit.max_concurrency = smallest->fit.max_concurrency;
        fit.demand = smallest->demand;
        fit.most_running = smallest->most_running;
        fit.memory = table.footprint(accelerator, fit.layout, fit.demand);
      } else {
        fit.rejection = too_small(table, carrier, request);
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
    const Fabric fabric = fabric_without_offer(catalog, *fit.accelerator, fit.layout);
    candidates.push_back({fit.accelerator, fabric, fit.layout, 1});
    candidates.push_back({fit.accelerator, fabric, fit.layout, fit.most_running});
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
  warn_of_verdict(best.memory.verdict, warnings);
  warn_of_price(*best.offer, best.price_age_days, warnings);
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

// Times know of no host memory and no neighbours, and of a draft only with what speculation gains.
bool is_timed(const JobSpec& job) {
  Residency rest = job.residency;
  if (job.load.draft_tokens > 0) rest.draft.clear();
  return rest.is_plain();
}

// Model, engine and request; no hardware yet.
Estimate prepare(const Catalog& catalog, const EstimateRequest& request) {
  Estimate estimate;
  estimate.model = request.model ? serve_model(request.job, *request.model, estimate.identity)
                                 : serve_model(catalog, request.job, request.hub, estimate.identity);
  add_company(catalog, request.job, request.hub, estimate.model);
  estimate.engine_release = require_engine(catalog, request.job);
  estimate.engine = estimate.engine_release.get();
  estimate.request = request_shape(request.job);
  check(catalog, request, *estimate.engine, estimate.model.architecture);
  return estimate;
}

void fit_within(const Catalog& catalog, const EstimateRequest& request, const Planning& planning, Estimate& estimate) {
  estimate.hardware = fit_hardware(catalog, request, planning.table, planning.loads);
  if (is_timed(request.job)) time_hardware(catalog, planning.job, planning.ceilings, estimate.hardware);
}

}  // namespace

Estimate fit_job(const Catalog& catalog, const EstimateRequest& request) {
  Estimate estimate = prepare(catalog, request);
  const Ceilings ceilings(catalog);
  const ServingJob job = serving_job(request, estimate);
  HardwareTable table(catalog, request, estimate.model, *estimate.engine, ceilings);
  LoadPlanner loads(request, job, ceilings);
  fit_within(catalog, request, {job, ceilings, table, loads}, estimate);
  estimate.warnings = warnings_of(catalog, request, estimate);
  return estimate;
}

Estimate make_estimate(const Catalog& catalog, const EstimateRequest& request) {
  // A footprint needs no more of a draft than its size, times need what its guesses are worth.
  const JobSpec& asked = request.job;
  auto problems = check_load(asked.load, !asked.concurrency.is_default, !asked.residency.draft.empty());
  if (!problems.empty()) throw InputError(std::move(problems));
  Estimate estimate = prepare(catalog, request);
  const Ceilings ceilings(catalog);
  const ServingJob job = serving_job(request, estimate);
  HardwareTable table(catalog, request, estimate.model, *estimate.engine, ceilings);
  LoadPlanner loads(request, job, ceilings);
  const Planning planning{job, ceilings, table, loads};
  fit_within(catalog, request, planning, estimate);
  estimate.options = plan_offers(catalog, request, planning, estimate.rejected);
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
  ServingCandidate candidate{option.accelerator, option.fabric, option.layout, std::max(option.load, 1.0)};
  candidate.arrivals = request.job.load.arrives();
  const ServingTime time = serving_time(serving_job(request, estimate), candidate, ceilings, &why);
  explain_load(request.job.load, option, time.e2e.value, why);
  (void)hourly_cost(catalog, use_of(request, option), &why);
}

}  // namespace gpuplan
