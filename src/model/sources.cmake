set(GPUPLAN_MODEL_SOURCES
  architecture.cpp
  kv_cache.cpp
  operators.cpp
  scheme.cpp
  tensors.cpp
)
