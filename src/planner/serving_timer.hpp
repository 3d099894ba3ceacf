#pragma once
// Times of layouts under load, each hardware signature once.

#include <gpuplan/planner/estimate.hpp>

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace gpuplan {

// Equal hardware under equal load is timed once, whoever offers it.
class ServingTimer {
 public:
  std::size_t add(const Option& option, double load) {
    const Key key{option.accelerator,
                  std::string(option.fabric.inside.link),
                  option.fabric.inside.crosses_host,
                  option.layout.tp,
                  option.layout.pp,
                  std::string(option.fabric.between.link),
                  option.fabric.between.rate.base(),
                  load};
    const auto [entry, fresh] = index_.try_emplace(key, candidates_.size());
    if (fresh) candidates_.push_back({option.accelerator, option.fabric, option.layout, load});
    return entry->second;
  }
  void run(const ServingJob& job, const Ceilings& ceilings) { times_ = serving_times(job, candidates_, ceilings); }
  [[nodiscard]] const ServingTime& time(std::size_t index) const { return times_[index]; }

 private:
  using Key =
      std::tuple<const Accelerator*, std::string, bool, std::int64_t, std::int64_t, std::string, double, double>;
  std::map<Key, std::size_t> index_;
  std::vector<ServingCandidate> candidates_;
  std::vector<ServingTime> times_;
};

}  // namespace gpuplan
