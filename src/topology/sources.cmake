set(GPUPLAN_TOPOLOGY_SOURCES
  algorithms.cpp
  fabric.cpp
  level.cpp
  collectives.cpp
  collective_time.cpp
)
