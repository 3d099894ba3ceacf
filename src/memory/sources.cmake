set(GPUPLAN_MEMORY_SOURCES
  inference.cpp
  training.cpp
  training_activations.cpp
  training_limits.cpp
  training_states.cpp
)
