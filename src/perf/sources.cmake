set(GPUPLAN_PERF_SOURCES
  ceilings.cpp
  parts.cpp
  parts_work.cpp
  serving.cpp
  workload.cpp
)
