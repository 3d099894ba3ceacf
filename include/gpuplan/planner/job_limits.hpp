#pragma once
/// What a job that ends has to keep.

#include <gpuplan/base/units.hpp>
#include <gpuplan/deploy/deployment.hpp>

#include <optional>
#include <string_view>

namespace gpuplan {

struct JobLimits {
  std::optional<Seconds> deadline;
  std::optional<double> budget;  ///< in the request's currency
};
/// Rule `deadline` or `budget` when one is not kept, by the expected time and money.
std::optional<Rejection> beyond_limits(const JobLimits& limits, Seconds total, double cost, std::string_view currency);

}  // namespace gpuplan
