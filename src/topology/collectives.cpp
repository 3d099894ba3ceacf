#include <gpuplan/topology/collectives.hpp>

#include <algorithm>
#include <cmath>

namespace gpuplan {

Seconds all_reduce_latency(const FabricLevel& level, std::int64_t devices) {
  if (devices <= 1) return {};
  const double steps = std::log2(static_cast<double>(devices));
  // Measured at 2 devices (one step) and 8 (three).
  return level.latency_2 + (level.latency_8 - level.latency_2) * ((steps - 1) / 2);
}

Seconds all_reduce_time(const FabricLevel& level, std::int64_t devices, Bytes size, Explain* why) {
  if (devices <= 1) return {};
  const auto n = static_cast<double>(devices);
  const Seconds latency = all_reduce_latency(level, devices);
  // Without peer-to-peer every byte is written to the host's memory and read from it again: two passes of one link.
  const double passes = level.crosses_host ? 2 : 1;
  const Seconds time = passes * (latency + 2 * (n - 1) / n * (size / (level.rate * level.efficiency)));
  if (why) {
    why->term("time.all_reduce", time, "passes * (latency + 2 * (n - 1) / n * size / (rate * efficiency))",
              {{"passes", passes},
               {"latency", latency},
               {"n", n},
               {"size", size},
               {"rate", level.rate},
               {"efficiency", level.efficiency}});
  }
  return time;
}

Seconds point_to_point_time(const FabricLevel& level, Bytes size) {
  if (level.rate <= BytesPerSecond{}) return {};
  return 0.5 * level.latency_2 + size / (level.rate * level.point_to_point_efficiency);
}

}  // namespace gpuplan
