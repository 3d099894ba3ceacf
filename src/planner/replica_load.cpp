#include "replica_load.hpp"

#include <gpuplan/base/text.hpp>
#include <gpuplan/perf/queueing.hpp>
#include <gpuplan/planner/limits.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace gpuplan {
namespace {

double as_double(std::int64_t n) { return static_cast<double>(n); }

struct TargetOf {
  LoadBound bound;
  const Chosen<Seconds>* limit;
  const Interval<Seconds>* time;
};

std::array<TargetOf, 3> targets_of(const Targets& targets, const ServingTime& time) {
  return {{{LoadBound::ttft, &targets.ttft, &time.ttft},
           {LoadBound::tpot, &targets.tpot, &time.tpot},
           {LoadBound::e2e, &targets.e2e, &time.e2e}}};
}

std::string upper(LoadBound bound) {
  return bound == LoadBound::ttft ? "TTFT" : bound == LoadBound::tpot ? "TPOT" : "E2E";
}

// Three digits, as it is shown, of which none was rounded away.
Seconds rounded_up(Seconds time) {
  const double digit = std::pow(10.0, std::floor(std::log10(time.base())) - 2);
  return seconds(std::ceil(time.base() / digit) * digit);
}

// Running requests are looked for on a grid: whole ones in a closed loop; where requests arrive by themselves, parts of all sequences, the
// last of which would let the queue grow without end.
constexpr std::int64_t kSteps = 512;

}  // namespace

ReplicaKey key_of(const Accelerator& accelerator, const Fabric& fabric, const Layout& layout) {
  return {&accelerator, std::string(fabric.inside.link),  fabric.inside.crosses_host, layout.tp,
          layout.pp,    std::string(fabric.between.link), fabric.between.rate.base()};
}

ServingJob serving_job(const EstimateRequest& request, const Estimate& estimate) {
  const ServingLoad& load = request.job.load;
  ServingJob job{&estimate.model, estimate.engine, estimate.request};
  job.prefix_hit = load.prefix_hit.value.value_or(0);
  job.speculation = {load.draft_tokens, load.acceptance.value_or(0), 0};
  return job;
}

LoadPlanner::LoadPlanner(const EstimateRequest& request, const ServingJob& job, const Ceilings& ceilings)
    : load_(request.job.load),
      concurrency_(request.job.concurrency),
      job_(job),
      ceilings_(ceilings),
      arrives_(request.job.load.arrives()) {}

double LoadPlanner::demand() const {
  if (load_.users) return load_.active_users();
  return load_.request_rate.value_or(as_double(concurrency_.value));
}

double LoadPlanner::carries(const ReplicaLoad& load) const {
  if (load_.users) return load.active_users;
  return load_.request_rate ? load.requests_per_second : load.in_flight;
}

std::string LoadPlanner::demand_words() const {
  if (load_.users) return format_significant(load_.active_users(), 3) + " active users";
  if (load_.request_rate) return format_significant(*load_.request_rate, 3) + " requests a second";
  return format_whole(as_double(concurrency_.value)) + (concurrency_.value == 1 ? " request" : " requests at once");
}

std::string_view LoadPlanner::demand_flag() const {
  return load_.users ? "--users" : load_.request_rate ? "--request-rate" : "--concurrency";
}

ServingTime LoadPlanner::time_at(const Replica& replica, double running) const {
  ServingCandidate candidate{replica.accelerator, replica.fabric, replica.layout, std::max(running, 1.0)};
  candidate.arrivals = arrives_;
  return serving_time(job_, candidate, ceilings_, nullptr);
}

ReplicaLoad LoadPlanner::load_at(const Replica& replica, double running, const ServingTime& time) const {
  ReplicaLoad load;
  const double service = time.e2e.value.base();
  load.running = running;
  load.requests_per_second = running / service;
  if (arrives_) load.wait = mean_wait(replica.slots, running, time.e2e.value);
  load.in_flight = running + load.requests_per_second * load.wait.base();
  // A user thinks, waits and is served in turn: the cycle holds as many users as it takes seconds, times their requests a second.
  if (load_.users) load.active_users = load.requests_per_second * (load_.pause() + load.wait.base() + service);
  return load;
}

void LoadPlanner::add_queue(const ReplicaLoad& load, ServingTime& time) const {
  if (!arrives_) return;
  for (Interval<Seconds>* each : {&time.ttft, &time.e2e}) {
    each->value += load.wait;
    each->low += load.wait;
    each->high += load.wait;
  }
  const TokensPerSecond output = tokens_per_second(load.requests_per_second * as_double(job_.request.output));
  time.output = {output, output, output};  // what arrives is what leaves
}

std::optional<NearestTarget> LoadPlanner::nearest(const ServingTime& time) const {
  std::optional<NearestTarget> nearest;
  bool all_hold = true;
  for (const TargetOf& target : targets_of(load_.targets, time)) {
    if (!target.limit->has_value()) continue;
    all_hold = all_hold && target.time->high <= **target.limit;
    const NearestTarget one{target.bound, **target.limit, target.time->value, false};
    if (!nearest || one.margin() < nearest->margin()) nearest = one;
  }
  if (nearest) nearest->holds_at_high_end = all_hold;
  return nearest;
}

LoadBound LoadPlanner::bound_of(const Replica& replica) const {
  return replica.slots >= job_.engine->max_sequences.or_else(1) ? LoadBound::engine : LoadBound::memory;
}

ReplicaLimit LoadPlanner::too_slow(const Replica& replica) const {
  const ServingTime alone = time_at(replica, 1);
  const NearestTarget missed = *nearest(alone);
  const std::string name(to_string(missed.target));
  ReplicaLimit none;
  none.bound = missed.target;
  none.miss = missed.value / missed.limit;
  none.rejection =
      Rejection{"slo", upper(missed.target) + " of at most " + format_seconds(missed.limit),
                format_seconds(missed.value) + " for one request alone on " +
                    format_whole(as_double(replica.layout.devices_per_replica())) + " x " +
                    std::string(replica.accelerator->name),
                "a --" + name + " of " + format_seconds(rounded_up(missed.value)) +
                    (missed.target == LoadBound::tpot ? ", or a smaller --dtype" : ", or a shorter --input")};
  return none;
}

ReplicaLimit LoadPlanner::find_limit(const Replica& replica) const {
  const std::int64_t most = arrives_ ? kSteps - 1 : replica.slots;
  const auto running_at = [&](std::int64_t step) {
    return arrives_ ? as_double(replica.slots) * as_double(step) / as_double(kSteps) : as_double(step);
  };
  const auto timed = [&](std::int64_t step, ReplicaLoad& load) {
    ServingTime time = time_at(replica, running_at(step));
    load = load_at(replica, running_at(step), time);
    add_queue(load, time);
    return time;
  };
  ReplicaLimit limit;
  const auto holds = [&](std::int64_t step) {
    ReplicaLoad load;
    const auto target = nearest(timed(step, load));
    return !target || target->margin() >= 0;
  };
  const std::int64_t step = load_.targets.any() ? largest_that_fits(most, holds) : most;
  if (step == 0) return too_slow(replica);
  (void)timed(step, limit.load);
  limit.bound = bound_of(replica);
  if (step < most) {
    ReplicaLoad beyond;
    limit.bound = nearest(timed(step + 1, beyond))->target;
  }
  return limit;
}

ReplicaLimit LoadPlanner::limit(const Replica& replica) {
  if (is_plain()) {
    ReplicaLimit all;
    all.load.running = all.load.in_flight = as_double(replica.slots);
    all.bound = bound_of(replica);
    return all;
  }
  const auto [entry, fresh] = limits_.try_emplace(
      {key_of(*replica.accelerator, replica.fabric, replica.layout), replica.slots}, ReplicaLimit{});
  if (fresh) entry->second = find_limit(replica);
  return entry->second;
}

std::int64_t LoadPlanner::replicas(const ReplicaLimit& limit) const {
  if (!arrives_) {  // whole requests
    const auto most = static_cast<std::int64_t>(limit.load.in_flight);
    return (concurrency_.value + most - 1) / most + spare();
  }
  constexpr double kRounding = 1e-9;  // of a quotient that is whole
  const double needed = std::ceil(demand() / carries(limit.load) - kRounding);
  constexpr double kMost = 0x1p53;  // the largest number that can be typed; the cast stays defined
  return static_cast<std::int64_t>(std::clamp(needed, 1.0, kMost)) + spare();
}

ReplicaLoad LoadPlanner::load_of(const Replica& replica, std::int64_t working) {
  if (!arrives_) {
    ReplicaLoad load;
    load.running = load.in_flight = as_double((concurrency_.value + working - 1) / working);
    return load;
  }
  const auto [entry, fresh] = loads_.try_emplace(
      {key_of(*replica.accelerator, replica.fabric, replica.layout), replica.slots, working}, ReplicaLoad{});
  if (!fresh) return entry->second;
  const double share = demand() / as_double(working);
  double low = 0;
  double high = limit(replica).load.running;
  ReplicaLoad load = limit(replica).load;
  // Well below what times are known to. Near the end of the queue the load hardly changes where the wait does: both are looked at.
  constexpr double kClose = 1e-4;
  while (carries(load) > share * (1 + kClose) && high - low > kClose * kClose * high) {
    const double middle = (low + high) / 2;
    const ReplicaLoad tried = load_at(replica, middle, time_at(replica, middle));
    if (carries(tried) < share) {
      low = middle;
    } else {
      high = middle;
      load = tried;
    }
  }
  if (load_.request_rate) load.requests_per_second = share;
  return entry->second = load;
}

void explain_load(const ServingLoad& load, const Option& option, Seconds service, Explain& why) {
  if (!load.arrives()) return;
  const ReplicaLoad& at = option.carried.at;
  const double slots = as_double(option.max_concurrency);
  const double waits = waiting_share(option.max_concurrency, at.running);
  why.term("load.requests_per_second", at.running / service.base(), "running / e2e",
           {{"running", at.running}, {"e2e", service}});
  why.term("load.wait", at.wait, "share / (slots - running) * e2e",
           {{"share", waits, "Erlang's C of slots and running: docs/PHYSICS.md, \"Load\""},
            {"slots", slots},
            {"running", at.running},
            {"e2e", service}});
  if (!load.users) return;
  why.term("load.active_users", at.active_users, "requests_per_second * (think + wait + e2e)",
           {{"requests_per_second", at.running / service.base()},
            {"think", seconds(load.pause())},
            {"wait", at.wait},
            {"e2e", service}});
}

}  // namespace gpuplan
