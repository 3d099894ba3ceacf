#include "estimate_text.hpp"

#include <gpuplan/base/text.hpp>

#include <string>

namespace gpuplan {
namespace {

std::string figure(double n) { return format_significant(n, 3); }

// `8 users` is a replica's share of the people, `2.4 requests in flight` what the engine has of it.
std::string share_of_replica(const LoadDocument& load, const LoadDocument::Replica& r) {
  if (r.users) return figure(*r.users) + " users (" + figure(*r.active_users) + " active)";
  if (load.at.wait_s > 0 || load.limit.wait_s > 0) return figure(r.requests_per_second) + " requests/s";
  return figure(r.in_flight) + (r.in_flight == 1 ? " request" : " requests") + " in flight";
}

std::string upper(const std::string& target) { return target == "e2e" ? "E2E" : target == "ttft" ? "TTFT" : "TPOT"; }

std::string bound_words(const std::string& bound) {
  if (bound == "memory") return "memory";
  if (bound == "engine") return "the engine's number of sequences";
  return "the target of " + upper(bound);
}

}  // namespace

std::string solve_line(const FitDocument& solve) {
  if (solve.accelerator.empty())
    return solve.question + ": nothing of it is carried" +
           (solve.needed.empty() ? std::string() : "; needed: " + solve.needed + ", available: " + solve.available);
  std::string what = format_whole(solve.value) + " users";
  if (solve.question == "requests-per-second") what = figure(solve.value) + " requests a second";
  if (solve.question == "context") what = "requests of up to " + format_whole(solve.value) + " tokens";
  const std::string bound = solve.bound == "model" ? "the model's positions" : bound_words(solve.bound);
  return std::to_string(solve.count) + " x " + solve.accelerator + (solve.count == 1 ? " carries " : " carry ") + what +
         " in " + solve.dtype + ", bound by " + bound;
}

std::string in_flight_words(const OptionDocument& o) {
  if (!o.load || o.load->is_plain) return plural(static_cast<std::int64_t>(o.at_concurrency), "user");
  return figure(o.at_concurrency) + (o.at_concurrency == 1 ? " request" : " requests") + " in flight";
}

std::string load_line(const OptionDocument& o) {
  const LoadDocument& load = *o.load;
  std::string line;
  if (load.users) {
    line = figure(*load.users) + " users, " + figure(*load.active_users) + " of them active, " +
           figure(load.requests_per_second) + " requests/s: ";
  }
  const std::int64_t working = o.replicas - load.spare_replicas;
  line += plural(o.replicas, "replica") + " x " + plural(o.gpus_per_replica, "GPU");
  if (load.spare_replicas > 0) line += ", " + std::to_string(load.spare_replicas) + " of them spare";
  line += "; " + std::string(working > 1 ? "each" : "one") + " has " + share_of_replica(load, load.at) +
          " of at most " + share_of_replica(load, load.limit) + ", bound by " + bound_words(load.bound) + "; " +
          figure(load.at.in_flight) + " in flight";
  constexpr double kNamed = 1e-3;  // seconds; less than anybody notices
  if (load.at.wait_s >= kNamed)
    line += ", waiting " + format_seconds(seconds(load.at.wait_s)) + " for a turn in the mean";
  if (load.users && load.limit.users) {
    line += "; " + plural(working, "replica") + (working == 1 ? " carries" : " carry") + " up to " +
            figure(*load.limit.users * static_cast<double>(working)) + " users";
  }
  return line;
}

std::string slo_line(const SloDocument& slo) {
  return upper(slo.target) + " " + format_seconds(seconds(slo.value_s)) + " of at most " +
         format_seconds(seconds(slo.limit_s)) + " is nearest, " + format_significant(100 * slo.margin, 2) +
         " % to spare" + (slo.verdict == "tight" ? "; the high end of an 80 % interval misses its target" : "");
}

}  // namespace gpuplan
