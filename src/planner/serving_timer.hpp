#pragma once
// Times of layouts under load, each hardware signature once.

#include "replica_load.hpp"

#include <gpuplan/planner/estimate.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace gpuplan {

// Equal hardware under equal load is timed once, whoever offers it.
class ServingTimer {
 public:
  explicit ServingTimer(bool arrivals = false) : arrivals_(arrivals) {}
  std::size_t add(const Option& option, double load) {
    load = std::max(load, 1.0);
    const Key key(key_of(*option.accelerator, option.fabric, option.layout), load);
    const auto [entry, fresh] = index_.try_emplace(key, candidates_.size());
    if (fresh) {
      candidates_.push_back({option.accelerator, option.fabric, option.layout, load});
      candidates_.back().arrivals = arrivals_;
    }
    return entry->second;
  }
  void run(const ServingJob& job, const Ceilings& ceilings) { times_ = serving_times(job, candidates_, ceilings); }
  [[nodiscard]] const ServingTime& time(std::size_t index) const { return times_[index]; }

 private:
  using Key = std::pair<ReplicaKey, double>;
  bool arrivals_ = false;
  std::map<Key, std::size_t> index_;
  std::vector<ServingCandidate> candidates_;
  std::vector<ServingTime> times_;
};

}  // namespace gpuplan
