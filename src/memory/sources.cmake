set(GPUPLAN_MEMORY_SOURCES
  inference.cpp
)
