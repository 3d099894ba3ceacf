#pragma once
// How much one replica carries within the targets, and how many replicas that makes.

#include <gpuplan/perf/serving.hpp>
#include <gpuplan/planner/estimate.hpp>
#include <gpuplan/planner/load.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace gpuplan {

// A replica on its devices; equal ones are as fast, whoever offers them.
struct Replica {
  const Accelerator* accelerator = nullptr;
  Fabric fabric;
  Layout layout;
  std::int64_t slots = 1;  // sequences that memory and engine let run at once
};
using ReplicaKey = std::tuple<const Accelerator*, std::string, bool, std::int64_t, std::int64_t, std::string, double>;
ReplicaKey key_of(const Accelerator& accelerator, const Fabric& fabric, const Layout& layout);

struct ReplicaLimit {
  ReplicaLoad load;  // the most that a replica carries; nothing when `rejection`
  LoadBound bound = LoadBound::memory;
  std::optional<Rejection> rejection;  // a target that is missed even by one request alone
  double miss = 0;                     // then the time over the target
};

class LoadPlanner {
 public:
  LoadPlanner(const EstimateRequest& request, const ServingJob& job, const Ceilings& ceilings);

  // The load is said in requests in flight, and no target stands against what fits.
  [[nodiscard]] bool is_plain() const { return !arrives_ && !load_.targets.any(); }
  [[nodiscard]] bool arrives() const { return arrives_; }

  ReplicaLimit limit(const Replica& replica);
  // Replicas that carry everything, and the spare one.
  [[nodiscard]] std::int64_t replicas(const ReplicaLimit& limit) const;
  [[nodiscard]] std::int64_t spare() const { return load_.spare_replica ? 1 : 0; }
  // Of each replica when so many carry everything together.
  ReplicaLoad load_of(const Replica& replica, std::int64_t working);
  // Of requests in flight that nobody named: as many as a replica holds.
  [[nodiscard]] bool shows_limit() const { return !arrives_ && concurrency_.is_default; }
  // Puts the wait into the times, and makes the output what is asked for.
  void add_queue(const ReplicaLoad& load, ServingTime& time) const;
  [[nodiscard]] std::optional<NearestTarget> nearest(const ServingTime& time) const;
  // `64 requests at once`, `2.5 requests a second`, `20 active users`.
  [[nodiscard]] std::string demand_words() const;
  [[nodiscard]] std::string_view demand_flag() const;

 private:
  // Of one replica that carries everything: requests in flight, requests a second, or active users.
  [[nodiscard]] double demand() const;
  [[nodiscard]] double carries(const ReplicaLoad& load) const;
  [[nodiscard]] ServingTime time_at(const Replica& replica, double running) const;
  // Fills in what follows from the running requests and the time of each.
  [[nodiscard]] ReplicaLoad load_at(const Replica& replica, double running, const ServingTime& time) const;
  [[nodiscard]] LoadBound bound_of(const Replica& replica) const;
  [[nodiscard]] ReplicaLimit find_limit(const Replica& replica) const;
  [[nodiscard]] ReplicaLimit too_slow(const Replica& replica) const;

  const ServingLoad& load_;
  const Setting<std::int64_t>& concurrency_;
  const ServingJob& job_;
  const Ceilings& ceilings_;
  bool arrives_ = false;
  std::map<std::pair<ReplicaKey, std::int64_t>, ReplicaLimit> limits_;
  std::map<std::tuple<ReplicaKey, std::int64_t, std::int64_t>, ReplicaLoad> loads_;
};

// What a replica does for the requests of a job.
ServingJob serving_job(const EstimateRequest& request, const Estimate& estimate);

// The terms of a load whose requests arrive by themselves.
/// @param service  time of a running request at that load
void explain_load(const ServingLoad& load, const Option& option, Seconds service, Explain& why);

}  // namespace gpuplan
