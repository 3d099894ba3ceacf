#include <gpuplan/perf/queueing.hpp>

#include <gpuplan/base/error.hpp>

namespace gpuplan {

double waiting_share(std::int64_t servers, double offered) {
  const double most = static_cast<double>(servers);
  if (offered >= most) return 1;
  if (offered <= 0) return 0;
  // The share that a system without a queue would turn away, one server after the other: no factorial is needed.
  double lost = 1;
  for (std::int64_t n = 1; n <= servers; ++n) lost = offered * lost / (static_cast<double>(n) + offered * lost);
  return lost / (1 - offered / most * (1 - lost));
}

Seconds mean_wait(std::int64_t servers, double offered, Seconds service) {
  GPUPLAN_ASSERT(offered < static_cast<double>(servers), "a queue that does not grow without end");
  return waiting_share(servers, offered) / (static_cast<double>(servers) - offered) * service;
}

}  // namespace gpuplan
