#include "load.hpp"

#include <gpuplan/report/build.hpp>

#include <gpuplan/base/text.hpp>

namespace gpuplan {
namespace {

LoadDocument::Replica describe_replica(const ServingLoad& load, const ReplicaLoad& replica) {
  LoadDocument::Replica d{replica.running, replica.in_flight, replica.requests_per_second, {}, {}, replica.wait.base()};
  if (!load.users) return d;
  d.active_users = replica.active_users;
  d.users = replica.active_users / load.active_share.value.value_or(1);
  return d;
}

}  // namespace

void describe_load(const JobSpec& job, const Option& option, OptionDocument& d) {
  const ServingLoad& load = job.load;
  const CarriedLoad& carried = option.carried;
  const double working = static_cast<double>(option.working());
  LoadDocument document;
  document.replicas_needed = carried.replicas_needed;
  document.spare_replicas = carried.spare;
  document.at = describe_replica(load, carried.at);
  document.limit = describe_replica(load, carried.limit);
  document.bound = to_string(carried.bound);
  document.requests_per_second = carried.at.requests_per_second * working;
  if (load.users) {
    document.users = static_cast<double>(*load.users);
    document.active_users = load.active_users();
  }
  document.is_plain = !load.arrives() && !load.targets.any() && !load.spare_replica;
  d.at_concurrency = carried.at.in_flight * working;
  d.concurrency_per_replica = carried.limit.running;
  d.concurrency_total = carried.limit.running * working;
  d.utilization = carried.at.running / carried.limit.running;
  d.load = std::move(document);
  if (!carried.slo) return;
  const NearestTarget& nearest = *carried.slo;
  d.slo = SloDocument{std::string(to_string(nearest.target)), nearest.holds_at_high_end ? "holds" : "tight",
                      nearest.limit.base(), nearest.value.base(), nearest.margin()};
}

FitDocument describe_answer(const LoadAnswer& answer) {
  FitDocument d{std::string(to_string(answer.question)),
                {},
                answer.layout.devices(),
                answer.value,
                answer.dtype,
                answer.bound,
                {},
                {}};
  if (answer.accelerator) d.accelerator = answer.accelerator->name;
  if (answer.rejection) {
    d.needed = answer.rejection->needed;
    d.available = answer.rejection->available;
  }
  return d;
}

void describe_load_asked(const ServingLoad& load, std::vector<JobValue>& values) {
  const auto said = [&](std::string name, std::variant<std::string, double> value, bool is_default = false) {
    values.push_back({std::move(name), std::move(value), is_default});
  };
  const auto chosen = [&](std::string name, const Chosen<double>& value) {
    if (value.has_value()) said(std::move(name), *value, value.is_default);
  };
  const auto timed = [&](std::string name, const Chosen<Seconds>& value) {
    if (value.has_value()) said(std::move(name), (*value).base(), value.is_default);
  };
  if (load.request_rate) said("request_rate", *load.request_rate);
  if (load.users) said("users", static_cast<double>(*load.users));
  if (!load.use_case.empty()) said("use_case", load.use_case);
  chosen("active_share", load.active_share);
  timed("think_s", load.think);
  timed("ttft_s", load.targets.ttft);
  timed("tpot_s", load.targets.tpot);
  timed("e2e_s", load.targets.e2e);
  if (load.spare_replica) said("n+1", std::string("yes"));
  chosen("prefix_hit", load.prefix_hit);
  if (load.draft_tokens > 0) said("draft_tokens", load.draft_tokens);
  if (load.acceptance) said("acceptance", *load.acceptance);
}

}  // namespace gpuplan
