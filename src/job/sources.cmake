set(GPUPLAN_JOB_SOURCES
  job.cpp
  parts.cpp
  training.cpp
)
