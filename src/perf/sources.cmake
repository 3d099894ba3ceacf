set(GPUPLAN_PERF_SOURCES
  ceilings.cpp
  serving.cpp
  workload.cpp
  training.cpp
  training_search.cpp
  training_work.cpp
)
