#include <gpuplan/perf/cpu_slice.hpp>

#include <gpuplan/base/error.hpp>

#include <algorithm>
#include <cmath>

namespace gpuplan {
namespace {

double cores_of(const Accelerator& cpu) {
  return static_cast<double>(std::max<std::int64_t>(cpu.sm_count.or_else(1), 1));
}

// What a process reads of two sockets' memory when its weights lie in one of them: half of the channels, less what the link between the
// sockets costs. Fitted to the slices of more than one socket in data/measured/cpu_slices.csv.
constexpr double kOneSocketOfTwo = 0.4;

template <class Q>
void scale(Fact<Q>& fact, double share) {
  if (fact.known()) fact.value = fact.value * share;
}

void require_positive(double value, const char* name) {
  if (std::isfinite(value) && value > 0 && value <= 1e6) return;
  throw InputError(Problem{
      "input.bad_value", std::string(name) + " of a share of a CPU is not above 0", std::nullopt, "a count", {}, {}});
}

}  // namespace

bool is_cpu(const Accelerator& accelerator) { return accelerator.form_factor == "cpu"; }

Accelerator slice_of(const CpuSlice& slice) {
  require_positive(slice.vcpus, "vcpus");
  require_positive(slice.threads_per_core, "threads_per_core");
  const double cores = std::max(slice.vcpus / slice.threads_per_core, 1.0);
  const double threads = slice.threads.value_or(cores);
  require_positive(threads, "threads");
  const double socket = cores_of(*slice.cpu);
  Accelerator device = *slice.cpu;
  device.name = {};
  device.aliases = {};
  const double share = std::min(threads, slice.vcpus) / socket;
  for (auto fact : {&Accelerator::fp64, &Accelerator::fp32, &Accelerator::tf32, &Accelerator::fp16, &Accelerator::bf16,
                    &Accelerator::fp8, &Accelerator::int8, &Accelerator::achieved_gemm, &Accelerator::achieved_gemv})
    scale(device.*fact, share);
  const BytesPerSecond whole = device.stream_bandwidth.or_else(device.memory_bandwidth.or_else({}));
  BytesPerSecond read = whole * std::max(1.0, cores / socket);
  if (device.core_bandwidth.known()) read = std::min(read, device.core_bandwidth.value * cores);
  if (slice.bandwidth) read = *slice.bandwidth;
  if (cores > socket) read = read * kOneSocketOfTwo;
  device.memory_bandwidth.value = read;
  device.memory_bandwidth.mark = Mark::derived;
  device.stream_bandwidth = {};
  device.sm_count.value = static_cast<std::int64_t>(std::max(1.0, std::round(threads)));
  if (slice.memory) {
    device.memory.value = *slice.memory;
    device.memory.mark = Mark::derived;
  }
  return device;
}

}  // namespace gpuplan
