set(GPUPLAN_PERF_SOURCES
  ceilings.cpp
  serving.cpp
  workload.cpp
)
