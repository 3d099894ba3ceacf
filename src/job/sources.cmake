set(GPUPLAN_JOB_SOURCES
  job.cpp
  load.cpp
  parts.cpp
  training.cpp
)
