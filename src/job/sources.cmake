set(GPUPLAN_JOB_SOURCES
  duty.cpp
  job.cpp
  parts.cpp
  training.cpp
)
