set(GPUPLAN_VALIDATION_SOURCES
  calibrate.cpp
  csv.cpp
  errors.cpp
  measured.cpp
  predict.cpp
)
