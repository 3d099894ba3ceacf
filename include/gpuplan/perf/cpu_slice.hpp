#pragma once
/// A share of a CPU, such as a virtual server rents out, as a device of its own.
///
///     const Accelerator vps = slice_of({cpu, 8, 2});   // 8 vCPUs, two to a core
///
/// Threads multiply at their cores' rate. Cores read `core_bandwidth` each until they reach the socket's bandwidth; what a provider's
/// slice was measured to read stands instead where it is given, because it depends on how the provider places its guests. A slice
/// larger than a socket keeps its weights in one socket's memory, and the other socket's cores fetch them over the link between.
/// docs/PHYSICS.md, "CPUs".

#include <gpuplan/base/units.hpp>
#include <gpuplan/catalog/records.hpp>

#include <optional>

namespace gpuplan {

struct CpuSlice {
  const Accelerator* cpu = nullptr;  ///< one socket
  double vcpus = 1;
  double threads_per_core = 2;              ///< vCPUs that share a core
  std::optional<double> threads;            ///< that compute; empty: one a core
  std::optional<BytesPerSecond> bandwidth;  ///< measured: all its cores reading
  std::optional<Bytes> memory;
};

/// @throws InputError when a figure is not positive
/// @return a device without a name, whose `sm_count` is the number of threads and whose figures are ceilings
Accelerator slice_of(const CpuSlice& slice);

bool is_cpu(const Accelerator& accelerator);

}  // namespace gpuplan
