#include <gpuplan/planner/parts_estimate.hpp>

#include "jobs.hpp"
#include "offers.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::array<std::pair<ItemKind, std::string_view>, 5> kItems = {{{ItemKind::image, "image"},
                                                                          {ItemKind::video, "video"},
                                                                          {ItemKind::document, "document"},
                                                                          {ItemKind::recording, "recording"},
                                                                          {ItemKind::sample, "sample"}}};

double as_double(std::int64_t n) { return static_cast<double>(n); }

PartsTimeInputs time_inputs(const Catalog& catalog, const PartsPlan& plan, const Accelerator& accelerator,
                            const PartsJob& job) {
  PartsTimeInputs in;
  in.model = &plan.model;
  in.runtime = plan.runtime;
  in.accelerator = &accelerator;
  in.job = job;
  in.catalog = &catalog;
  return in;
}

// A kind of device with the job on it.
struct Fitted {
  std::optional<Rejection> rejection;
  PartsJob job;
  PartsMemory memory;
  PartsTime time;
  std::int64_t per_host = 1;
};

class Fitter {
 public:
  Fitter(const Catalog& catalog, const PartsPlan& plan)
      : catalog_(catalog), plan_(plan), ceilings_(catalog), hosts_(catalog) {}

  const Fitted& on(const Accelerator& accelerator) {
    const auto [entry, fresh] = fitted_.try_emplace(&accelerator);
    if (fresh) fit(accelerator, entry->second);
    return entry->second;
  }

 private:
  PartsMemory memory_of(const Accelerator& accelerator, const PartsJob& job) const {
    PartsMemoryInputs in = inputs_of(catalog_, plan_, accelerator);
    in.job = job;
    return parts_memory(in, nullptr);
  }
  void fit(const Accelerator& accelerator, Fitted& into) const {
    into.job = plan_.job;
    into.per_host = hosts_.of(accelerator);
    if (!catalog_.visible_memory(accelerator).known()) {
      into.rejection = Rejection{"memory.unknown", "the memory a program can use", "not in the catalogue",
                                 "a --catalog file that states it"};
      return;
    }
    if (ceilings_.bandwidth(accelerator) <= BytesPerSecond{} ||
        ceilings_.compute(accelerator, Arithmetic::bf16) <= FlopPerSecond{}) {
      into.rejection = Rejection{"compute.unknown", "peak and memory bandwidth", "not in the catalogue",
                                 "a --catalog file that states them"};
      return;
    }
    into.rejection = check_runtime(*plan_.runtime, accelerator);
    if (!into.rejection) into.rejection = check_format(plan_, accelerator);
    if (into.rejection) return;
    into.memory = memory_of(accelerator, into.job);
    into.rejection = refusal(plan_, into.memory);
    if (into.rejection) return;
    if (into.job.chooses_batch) choose_batch(accelerator, into);
    into.time = parts_time(time_inputs(catalog_, plan_, accelerator, into.job), ceilings_, nullptr);
  }
  // The batch beyond which throughput hardly grows, or the largest power of two that fits.
  void choose_batch(const Accelerator& accelerator, Fitted& into) const {
    const PartsConstants constants = constants_of(timed_runtime(catalog_, *plan_.runtime));
    const std::int64_t most =
        best_batch(time_inputs(catalog_, plan_, accelerator, into.job), ceilings_, constants, kMostAtOnce);
    for (std::int64_t batch = 2; batch <= most; batch *= 2) {
      PartsJob job = into.job;
      job.batch = batch;
      PartsMemory memory = memory_of(accelerator, job);
      if (refusal(plan_, memory)) break;
      into.job.batch = batch;
      into.memory = std::move(memory);
    }
  }

  const Catalog& catalog_;
  const PartsPlan& plan_;
  Ceilings ceilings_;
  HostSizes hosts_;
  std::map<const Accelerator*, Fitted> fitted_;
};

// Whole instances for the number asked for, else the smallest quantity that is sold.
std::optional<Rejection> count_devices(const EstimateRequest& request, const Supply& supply, PartsOption& option) {
  option.instances = 1;
  if (request.count) {
    if (*request.count % supply.per_instance != 0) {
      return Rejection{"count", "a multiple of " + format_whole(as_double(supply.per_instance)),
                       std::to_string(*request.count), "another --count"};
    }
    option.instances = *request.count / supply.per_instance;
  }
  option.devices = option.instances * supply.per_instance;
  option.hosts = (option.devices + supply.per_host - 1) / supply.per_host;
  option.count_is_assumed = supply.per_host > supply.per_instance && option.devices > supply.per_instance;
  return std::nullopt;
}

// Batches of one device that a job which ends takes, spread over the devices.
std::optional<Interval<Seconds>> total_of(const PartsJob& job, ItemKind item, const PartsOption& option) {
  const PartsTime& time = option.time;
  double per_batch = time.items;
  double wanted = job.items;
  if (job.tokens > 0) {
    per_batch = time.tokens;
    wanted = job.tokens;
  } else if (item == ItemKind::recording) {
    per_batch = time.audio;
    wanted = job.items * 3600;
  }
  if (wanted <= 0 || per_batch <= 0) return std::nullopt;
  const double batches = std::max(1.0, wanted / per_batch / as_double(option.devices));
  return Interval<Seconds>{time.latency.value * batches, time.latency.low * batches, time.latency.high * batches};
}

void price_work(const PartsJob& job, ItemKind item, PartsOption& option) {
  const double devices = as_double(option.devices);
  const double per_second = option.per_hour / 3600;
  option.per_1000_items = 1000 * per_second / (option.time.items_per_s().value * devices);
  if (const auto tokens = option.time.tokens_per_s())
    option.per_1m_tokens = 1e6 * per_second / (tokens->value * devices);
  if (const auto audio = option.time.audio_speed())
    option.per_audio_hour = 3600 * per_second / (audio->value * devices);
  option.total = total_of(job, item, option);
}

// Of the month, or of a job that ends with what its offer bills beyond the use.
void add_bill(const Catalog& catalog, const EstimateRequest& request, const Breakdown<double>& hourly,
              PartsOption& option) {
  const auto job =
      option.total
          ? job_cost(catalog, job_on(use_of(request, option), option.total->value, option.total->high), nullptr)
          : std::nullopt;
  if (job) {
    option.bill = job->terms;
  } else {
    for (const auto& term : hourly.terms()) option.bill.add(term.id, term.value * option.hours_per_month);
  }
  option.total_cost = option.bill.total();
}

void check_amount(const PartsEstimate& estimate) {
  const PartsJob& job = estimate.plan.job;
  if (job.tokens <= 0) return;
  const auto& parts = estimate.plan.model.network.parts;
  const bool reads = std::any_of(parts.begin(), parts.end(), [](const NetworkPart& p) { return p.item == "token"; });
  if (reads && estimate.item == ItemKind::document) return;
  throw InputError(Problem{"input.contradiction",
                           "'" + estimate.plan.identity.name + "' does not count tokens of text",
                           Place{"--tokens", 0, 0},
                           "--items",
                           {},
                           {}});
}

std::vector<Warning> warnings_of(const PartsEstimate& estimate) {
  std::vector<Warning> warnings = estimate.plan.identity.warnings;
  if (estimate.options.empty()) return warnings;
  const PartsOption& best = estimate.options.front();
  const PartsJob& asked = estimate.plan.job;
  const bool by_tokens = asked.tokens > 0;
  const double whole = by_tokens ? asked.tokens : asked.items;
  const double one = by_tokens ? best.time.tokens : best.time.items;
  if (whole > 0 && one > whole && estimate.item != ItemKind::recording) {
    warnings.push_back({"batch.over_job", "a batch takes " + format_whole(one) + (by_tokens ? " tokens" : " items") +
                                              ", and the job has " + format_whole(whole) +
                                              ": one batch is counted whole"});
  }
  warn_of_verdict(best.memory.verdict, warnings);
  warn_of_price(*best.offer, best.price_age_days, warnings);
  return warnings;
}

bool chosen(const EstimateRequest& request, const Accelerator& accelerator) {
  return request.accelerators.empty() || std::find(request.accelerators.begin(), request.accelerators.end(),
                                                   &accelerator) != request.accelerators.end();
}

// What an offer's instances make of the job; false without a price.
bool settle(const Catalog& catalog, const EstimateRequest& request, const PartsEstimate& estimate,
            PartsOption& option) {
  const auto hourly = hourly_cost(catalog, use_of(request, option), nullptr);
  if (!hourly) return false;
  option.per_hour = hourly->total();
  option.per_month = option.per_hour * option.hours_per_month;
  price_work(estimate.plan.job, estimate.item, option);
  option.bill = {};
  add_bill(catalog, request, *hourly, option);
  return true;
}

// Late with what is rented: as many instances as it takes.
void hurry(const JobLimits& limits, PartsOption& option) {
  constexpr double kMostInstances = 1 << 16;
  const std::int64_t devices = option.devices / option.instances;
  const double hosts = as_double(option.hosts) / as_double(option.instances);
  const double late = option.total->value / *limits.deadline;
  if (late <= 1) return;
  option.instances = static_cast<std::int64_t>(std::min(kMostInstances, std::ceil(as_double(option.instances) * late)));
  option.devices = option.instances * devices;
  option.hosts = static_cast<std::int64_t>(std::ceil(as_double(option.instances) * hosts));
  option.count_is_assumed = option.count_is_assumed || option.offer->scope == PriceScope::gpu;
}

std::optional<Rejection> plan_offer(const Catalog& catalog, const EstimateRequest& request, const JobLimits& limits,
                                    const Fitted& fitted, const PartsEstimate& estimate, PartsOption& option) {
  if (auto rejection = refused_by_rules(catalog, request, *option.provider, *option.offer, *option.accelerator))
    return rejection;
  if (fitted.rejection) return fitted.rejection;
  if (auto rejection = count_devices(request, supply_of(*option.offer, fitted.per_host), option)) return rejection;
  option.job = fitted.job;
  option.memory = fitted.memory;
  option.time = fitted.time;
  option.hours_per_month = hours_per_month(*option.provider);
  option.price_age_days = age_in_days(catalog, *option.offer, request.as_of);
  bool priced = settle(catalog, request, estimate, option);
  if (priced && option.total && limits.deadline && !request.count) {
    hurry(limits, option);
    priced = settle(catalog, request, estimate, option);
  }
  if (!priced) return Rejection{"price", "a price", "unknown", "ask the provider"};
  if (!option.total) return std::nullopt;
  return beyond_limits(limits, option.total->value, option.total_cost, request.currency);
}

void plan_offers(const Catalog& catalog, const EstimateRequest& request, const JobLimits& limits, Fitter& fitter,
                 PartsEstimate& estimate) {
  bool missed = false;
  for (const Provider& provider : catalog.providers()) {
    for (const Offer& offer : provider.offers) {
      if (!offer.rankable || !asked_for(request, provider, offer)) continue;
      const Accelerator& accelerator = *catalog.find_accelerator(offer.gpu);
      if (!chosen(request, accelerator)) continue;
      PartsOption option;
      option.provider = &provider;
      option.offer = &offer;
      option.accelerator = &accelerator;
      const auto rejection = plan_offer(catalog, request, limits, fitter.on(accelerator), estimate, option);
      if (rejection) {
        missed = missed || rejection->rule == "deadline" || rejection->rule == "budget";
        estimate.rejected.push_back({&offer, *rejection});
      } else {
        estimate.options.push_back(std::move(option));
      }
    }
  }
  estimate.limits_failed = missed && estimate.options.empty();
}

}  // namespace

std::string_view to_string(ItemKind value) {
  for (const auto& [kind, name] : kItems) {
    if (kind == value) return name;
  }
  return "image";
}

ItemKind item_kind(const Network& network) {
  bool text = false;
  bool sound = false;
  for (const NetworkPart& part : network.parts) {
    if (!part.loaded) continue;
    if (item_size(part).is_known()) return item_size(part).frames > 1 ? ItemKind::video : ItemKind::image;
    text = text || part.item == "token";
    sound = sound || part.item.find("audio") != std::string::npos || part.item.find("second of") != std::string::npos;
  }
  if (sound) return ItemKind::recording;
  return text ? ItemKind::document : ItemKind::sample;
}

PartsEstimate estimate_parts(const Catalog& catalog, const EstimateRequest& request, const ResolvedModel& model,
                             const JobLimits& limits) {
  PartsEstimate estimate;
  estimate.plan = fit_parts(catalog, request, model);
  estimate.item = item_kind(estimate.plan.model.network);
  estimate.limits = limits;
  check_amount(estimate);
  Fitter fitter(catalog, estimate.plan);
  plan_offers(catalog, request, limits, fitter, estimate);
  for (PartsFit& fit : estimate.plan.hardware) {
    const Fitted& fitted = fitter.on(*fit.accelerator);
    if (!fit.rejection) fit.rejection = fitted.rejection;
    if (fit.rejection) continue;
    fit.memory = fitted.memory;
    fit.batch = fitted.job.batch;
    fit.time = fitted.time;
  }
  rank_by(
      estimate.options, request.sort, [](const PartsOption& o) { return o.total_cost; },
      [](const PartsOption& o) { return (o.total ? o.total->value : o.time.latency.value).base(); });
  estimate.warnings = warnings_of(estimate);
  return estimate;
}

void explain_option(const Catalog& catalog, const EstimateRequest& request, const PartsEstimate& estimate,
                    const PartsOption& option, Explain& why) {
  PartsMemoryInputs memory = inputs_of(catalog, estimate.plan, *option.accelerator);
  memory.job = option.job;
  (void)parts_memory(memory, &why);
  const Ceilings ceilings(catalog);
  (void)parts_time(time_inputs(catalog, estimate.plan, *option.accelerator, option.job), ceilings, &why);
  if (option.total) {
    (void)job_cost(catalog, job_on(use_of(request, option), option.total->value, option.total->high), &why);
  } else {
    (void)hourly_cost(catalog, use_of(request, option), &why);
  }
}

}  // namespace gpuplan
