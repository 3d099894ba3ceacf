#pragma once
/// Time of one operator on one device: docs/PHYSICS.md, "Operators and the roofline".
///
/// With compute time C = F / (ceiling · η_c) and memory time M = Q / (bandwidth · η_m) an operator takes
/// max(C, M) + κ · min(C, M) + launch. The same template computes one pair (double) and all operators over all accelerators
/// at once (Eigen arrays); a test holds the two together.

#include <gpuplan/perf/ceilings.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace gpuplan {

namespace detail {
inline double larger(double a, double b) { return std::max(a, b); }
inline double smaller(double a, double b) { return std::min(a, b); }
template <class Array>
auto larger(const Array& a, const Array& b) {
  return a.max(b);
}
template <class Array>
auto smaller(const Array& a, const Array& b) {
  return a.min(b);
}
}  // namespace detail

/// The rate put in for a device whose peak nobody states: its memory alone limits it.
inline constexpr double kUnlimitedCompute = 1e30;  // FLOP/s

/// Seconds of one operator; T is double or an Eigen array of doubles in base units.
/// @param compute_rate  ceiling times efficiency, FLOP/s
/// @param memory_rate   ceiling times efficiency, bytes/s
template <class T>
T operator_seconds(const T& flops, const T& bytes, const T& compute_rate, const T& memory_rate, const T& launch,
                   double overlap) {
  const T compute = flops / compute_rate;
  const T memory = bytes / memory_rate;
  return detail::larger(compute, memory) + overlap * detail::smaller(compute, memory) + launch;
}

/// Seconds of kernels that the host launches while the device works off earlier ones: the longer of the two counts, and a little of the
/// shorter where both are alike. T is double or an Eigen array.
template <class T>
T seconds_with_host(const T& device, const T& host) {
  using std::sqrt;
  const T longer = detail::larger(device, host);
  const T ratio = detail::smaller(device, host) / (longer + std::numeric_limits<double>::min());
  return longer * sqrt(sqrt(1.0 + ratio * ratio * ratio * ratio));
}

}  // namespace gpuplan
