#pragma once
/// A value with its 80 % interval: low <= value <= high.

namespace gpuplan {

template <class Q>
struct Interval {
  Q value{};
  Q low{};
  Q high{};
};

}  // namespace gpuplan
