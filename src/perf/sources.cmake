set(GPUPLAN_PERF_SOURCES
  roofline.cpp
  serving.cpp
  workload.cpp
)
