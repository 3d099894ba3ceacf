set(GPUPLAN_PERF_SOURCES
  ceilings.cpp
  cpu_slice.cpp
  pools.cpp
  serving.cpp
  workload.cpp
)
