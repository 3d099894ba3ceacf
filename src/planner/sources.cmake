set(GPUPLAN_PLANNER_SOURCES
  estimate.cpp
  hardware.cpp
  model_resolution.cpp
  offers.cpp
  training.cpp
)
