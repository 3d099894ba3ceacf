#include <gpuplan/planner/batch_estimate.hpp>

#include "jobs.hpp"
#include "offers.hpp"
#include "serving_timer.hpp"

#include <gpuplan/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpuplan {
namespace {

constexpr std::int64_t kMostDevices = 1 << 16;

double as_double(std::int64_t n) { return static_cast<double>(n); }

// A layout of an offer under one load.
struct Timed {
  std::int64_t load = 1;
  std::size_t time = 0;  // of the timer
};
struct Choice {
  Option option;
  std::vector<Timed> loads;
};

// Loads that are looked at: powers of two, and the most that fits or is to be done.
std::vector<std::int64_t> loads_of(const BatchLoad& load, const Option& option) {
  const double share = std::ceil(load.requests / as_double(option.layout.dp));
  const auto most = static_cast<std::int64_t>(std::clamp(share, 1.0, as_double(option.max_concurrency)));
  if (load.batch) return {std::min(*load.batch, most)};
  std::vector<std::int64_t> loads;
  for (std::int64_t n = 1; n < most; n *= 2) loads.push_back(n);
  loads.push_back(most);
  return loads;
}

// Seconds until a replica has done its share with so many in flight, the first and the last ones included.
double share_time(double requests, std::int64_t load, const ServingTime& time) {
  return std::max(1.0, requests / as_double(load)) * time.e2e.value.base();
}

JobCostInputs bill_of(const EstimateRequest& request, const BatchOption& option) {
  return job_on(use_of(request, option), option.total.value, option.total.high);
}

class Planner {
 public:
  Planner(const Catalog& catalog, const EstimateRequest& request, BatchEstimate& estimate)
      : catalog_(catalog), request_(request), estimate_(estimate), ceilings_(catalog) {}

  void run() {
    HardwareTable table(catalog_, request_, estimate_.fit.model, *estimate_.fit.engine, ceilings_);
    auto offers = time_layouts(table);
    for (auto& choices : offers) {
      const Offer* offer = choices.front().option.offer;
      auto planned = plan(choices);
      if (!planned.second) {
        BatchOption& option = planned.first;
        option.memory = table.footprint(*option.accelerator, option.layout, option.demand);
        estimate_.options.push_back(std::move(option));
      } else {
        estimate_.fit.rejected.push_back({offer, *planned.second});
      }
    }
  }
  [[nodiscard]] bool missed() const { return missed_; }

 private:
  std::vector<std::vector<Choice>> time_layouts(HardwareTable& table) {
    std::vector<std::vector<Choice>> offers;
    const ServingJob job = serving_job(request_, estimate_.fit);
    LoadPlanner loads(request_, job, ceilings_);  // nobody waits: as many requests as fit
    for (auto& layouts : offer_layouts(catalog_, request_, {job, ceilings_, table, loads}, estimate_.fit.rejected)) {
      std::vector<Choice> choices;
      for (Option& option : layouts) {
        Choice choice{std::move(option), {}};
        if (estimate_.load.batch && *estimate_.load.batch > choice.option.max_concurrency) continue;
        for (const std::int64_t load : loads_of(estimate_.load, choice.option))
          choice.loads.push_back({load, timer_.add(choice.option, as_double(load))});
        choices.push_back(std::move(choice));
      }
      if (choices.empty()) {
        reject_batch(layouts);
      } else {
        offers.push_back(std::move(choices));
      }
    }
    timer_.run(job, ceilings_);
    return offers;
  }

  void reject_batch(const std::vector<Option>& layouts) {
    std::int64_t most = 0;
    for (const Option& option : layouts) most = std::max(most, option.max_concurrency);
    estimate_.fit.rejected.push_back(
        {layouts.front().offer,
         {"memory", format_whole(as_double(*estimate_.load.batch)) + " requests in flight on a replica",
          format_whole(as_double(most)), "a smaller --batch"}});
  }

  // The layout and load of the shortest time on `times` as many instances.
  struct Best {
    const Choice* choice = nullptr;
    const Timed* timed = nullptr;
    double seconds = 0;
  };
  Best best_of(const std::vector<Choice>& choices, std::int64_t times) const {
    Best best;
    for (const Choice& choice : choices) {
      const double share = std::ceil(estimate_.load.requests / as_double(choice.option.layout.dp * times));
      for (const Timed& timed : choice.loads) {
        const double took = share_time(share, timed.load, timer_.time(timed.time));
        if (!best.choice || took < best.seconds) best = {&choice, &timed, took};
      }
    }
    return best;
  }

  // Once, unless that is late: then as often as is in time, if any number is.
  std::int64_t multiple_of(const std::vector<Choice>& choices) const {
    const auto& deadline = estimate_.load.limits.deadline;
    if (!deadline || request_.count) return 1;
    const auto in_time = [&](std::int64_t times) { return seconds(best_of(choices, times).seconds) <= *deadline; };
    std::int64_t high = std::max<std::int64_t>(1, kMostDevices / choices.front().option.devices);
    if (in_time(1) || !in_time(high)) return 1;
    std::int64_t low = 1;  // late
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (in_time(middle) ? high : low) = middle;
    }
    return high;
  }

  // An interruption takes more time, and that may take more instances.
  std::pair<BatchOption, std::optional<Rejection>> plan(const std::vector<Choice>& choices) {
    std::int64_t times = multiple_of(choices);
    auto planned = lay_out(choices, times);
    const auto& deadline = estimate_.load.limits.deadline;
    for (int i = 0; i < 3 && times > 1 && deadline && planned.first.total.value > *deadline; ++i) {
      const double late = planned.first.total.value / *deadline;
      times = std::min(kMostDevices, static_cast<std::int64_t>(std::ceil(as_double(times) * late)));
      planned = lay_out(choices, times);
    }
    if (planned.second && (planned.second->rule == "deadline" || planned.second->rule == "budget")) missed_ = true;
    return planned;
  }

  std::pair<BatchOption, std::optional<Rejection>> lay_out(const std::vector<Choice>& choices,
                                                           std::int64_t times) const {
    const Best best = best_of(choices, times);
    BatchOption option;
    static_cast<Option&>(option) = best.choice->option;
    option.instances *= times;
    option.devices *= times;
    option.hosts *= times;
    option.layout.dp *= times;
    option.count_is_assumed = option.count_is_assumed || (times > 1 && option.offer->scope == PriceScope::gpu);
    option.demand = best.timed->load;
    option.load = as_double(best.timed->load);
    option.at = option.asked = timer_.time(best.timed->time);
    const Seconds total = seconds(best.seconds);
    const Interval<TokensPerSecond>& output = option.at.output;
    option.total = {total, total * (output.value / output.high), total * (output.value / output.low)};
    if (option.offer->contract == Contract::spot) {
      if (auto rejection = interrupt(option)) return {option, rejection};
    }
    if (!price(option)) return {option, Rejection{"price", "a price", "unknown", "ask the provider"}};
    return {option, beyond_limits(estimate_.load.limits, option.total.value, option.cost.p50(), request_.currency)};
  }

  // What a replica has finished stays finished: the requests in flight are lost, and it starts again.
  std::optional<Rejection> interrupt(BatchOption& option) const {
    const Provider& provider = *option.provider;
    const double a_month = interruptions_per_month(provider, *option.offer);
    option.interruptions_unknown = a_month <= 0;
    if (option.interruptions_unknown) return std::nullopt;
    SpotInputs in;
    in.work = option.total.value;
    in.restore = kRestart;
    in.mtbf = hours(hours_per_month(provider)) / a_month;
    in.instances = option.hosts_per_replica;
    in.interval = std::min(option.at.e2e.value, option.total.value);
    option.spot = plan_spot(in, nullptr);
    if (option.spot->verdict == SpotVerdict::never_finishes)
      return Rejection{"interruptions", "a request's time between two interruptions",
                       format_seconds(option.spot->job_mtbf), "another contract"};
    const double stretch = std::max(1.0, option.spot->elapsed / in.work);
    option.total = {option.total.value * stretch, option.total.low, option.total.high * stretch};
    return std::nullopt;
  }

  bool price(BatchOption& option) const {
    const auto cost = job_cost(catalog_, bill_of(request_, option), nullptr);
    const auto hourly = hourly_cost(catalog_, use_of(request_, option), nullptr);
    if (!cost || !hourly) return false;
    option.cost = *cost;
    option.hourly = *hourly;
    option.per_hour = hourly->total();
    option.per_month = option.per_hour * option.hours_per_month;
    option.per_1m_output_tokens = option.per_hour / (option.output_tokens_per_s() * 3600) * 1e6;
    return true;
  }

  const Catalog& catalog_;
  const EstimateRequest& request_;
  BatchEstimate& estimate_;
  Ceilings ceilings_;
  ServingTimer timer_;
  bool missed_ = false;
};

void warn(const BatchLoad& load, BatchEstimate& estimate) {
  if (estimate.options.empty()) return;
  const BatchOption& best = estimate.options.front();
  auto& warnings = estimate.fit.warnings;
  warn_of_job(best, load.limits.deadline, warnings);
  warn_of_verdict(best.memory.verdict, warnings);
  warn_of_price(*best.offer, best.price_age_days, warnings);
}

}  // namespace

BatchEstimate estimate_batch(const Catalog& catalog, const EstimateRequest& request, const BatchLoad& load) {
  GPUPLAN_ASSERT(load.requests > 0, "a batch has requests");
  BatchEstimate estimate;
  estimate.load = load;
  estimate.load.requests = std::max(1.0, std::ceil(load.requests));
  estimate.fit = fit_job(catalog, request);
  Planner planner(catalog, request, estimate);
  planner.run();
  rank_by(
      estimate.options, request.sort, [](const BatchOption& o) { return o.cost.p50(); },
      [](const BatchOption& o) { return o.total.value.base(); });
  estimate.limits_failed = estimate.options.empty() && planner.missed();
  warn(load, estimate);
  return estimate;
}

void explain_option(const Catalog& catalog, const EstimateRequest& request, const BatchEstimate& estimate,
                    const BatchOption& option, Explain& why) {
  const Ceilings ceilings(catalog);
  const Estimate& fit = estimate.fit;
  HardwareTable table(catalog, request, fit.model, *fit.engine, ceilings);
  (void)inference_memory(table.memory_inputs(*option.accelerator, option.layout), option.demand, &why);
  (void)serving_time(serving_job(request, fit), {option.accelerator, option.fabric, option.layout, option.load},
                     ceilings, &why);
  const double share = std::ceil(estimate.load.requests / as_double(option.layout.dp));
  if (!option.spot) {
    why.term("batch.total", option.total.value, "max(1, requests / in_flight) * request_seconds",
             {{"requests", share}, {"in_flight", option.load}, {"request_seconds", option.at.e2e.value}});
  }
  (void)job_cost(catalog, bill_of(request, option), &why);
}

}  // namespace gpuplan
