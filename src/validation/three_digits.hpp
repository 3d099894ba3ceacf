#pragma once
// A fitted number as it is written and then read: three digits.

#include <cmath>

namespace gpuplan {

inline double three_digits(double value) {
  if (!(value > 0) || !std::isfinite(value)) return 0;
  const double exponent = std::floor(std::log10(value));
  // Dividing by a power of ten that is whole keeps 0.849 from becoming 0.8490000000000001.
  const double scale = std::pow(10.0, std::fabs(exponent - 2));
  return exponent > 2 ? std::round(value / scale) * scale : std::round(value * scale) / scale;
}

}  // namespace gpuplan
