#pragma once
/// Time of one operator on one device: docs/PHYSICS.md, "Operators and the roofline".
///
/// With compute time C = F / (ceiling · η_c) and memory time M = Q / (bandwidth · η_m) an operator takes
/// max(C, M) + κ · min(C, M) + launch. The same template computes one pair (double) and all operators over all accelerators
/// at once (Eigen arrays); a test holds the two together.

#include <gpuplan/base/units.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/model/operators.hpp>

#include <algorithm>
#include <type_traits>

namespace gpuplan {

/// What a device reaches of its datasheet before any engine: measured where the catalogue has a measurement, else the peak
/// times the median ratio of measured to peak over the devices of the same vendor that have both.
class Ceilings {
 public:
  explicit Ceilings(const Catalog& catalog);
  /// Dense matrix products in that arithmetic; a format the device lacks falls back to the next wider one that it has.
  /// 0 when nothing is known.
  [[nodiscard]] FlopPerSecond compute(const Accelerator& accelerator, Arithmetic arithmetic) const;
  /// The fact that the compute ceiling rests on, for its source.
  [[nodiscard]] const Fact<FlopPerSecond>& peak(const Accelerator& accelerator, Arithmetic arithmetic) const;
  [[nodiscard]] BytesPerSecond bandwidth(const Accelerator& accelerator) const;

 private:
  struct Ratios {
    double compute = 1;  ///< in 16 bit
    double fp8 = 1;
    double bandwidth = 1;
  };
  [[nodiscard]] Ratios ratios_of(const Accelerator& accelerator) const;
  std::vector<std::pair<std::string_view, Ratios>> by_vendor_;
  Ratios overall_;
};

/// Whether the device multiplies in that arithmetic itself; false: it falls back to a wider one.
bool has_arithmetic(const Accelerator& accelerator, Arithmetic arithmetic);

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
T operator_seconds(const T& flops, const T& bytes, const T& compute_rate, const T& memory_rate, const T& launch, double overlap) {
  const T compute = flops / compute_rate;
  const T memory = bytes / memory_rate;
  return detail::larger(compute, memory) + overlap * detail::smaller(compute, memory) + launch;
}

}  // namespace gpuplan
