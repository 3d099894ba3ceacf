set(GPUPLAN_JOB_SOURCES
  duty.cpp
  job.cpp
  load.cpp
  parts.cpp
  training.cpp
)
