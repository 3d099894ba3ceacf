#pragma once
/// How a job is laid over devices. One replica is a group of `tp · pp` devices; `dp` counts replicas.

#include <cstdint>

namespace gpuplan {

struct Layout {
  std::int64_t tp = 1;  ///< tensor parallel
  std::int64_t pp = 1;  ///< pipeline parallel
  std::int64_t dp = 1;  ///< replicas
  [[nodiscard]] std::int64_t devices_per_replica() const { return tp * pp; }
  [[nodiscard]] std::int64_t devices() const { return tp * pp * dp; }
};

}  // namespace gpuplan
