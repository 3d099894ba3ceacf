set(GPUPLAN_TOPOLOGY_SOURCES
  fabric.cpp
  collectives.cpp
  collective_time.cpp
)
