set(GPUPLAN_JOB_SOURCES
  job.cpp
  training.cpp
)
