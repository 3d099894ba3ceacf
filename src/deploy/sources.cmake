set(GPUPLAN_DEPLOY_SOURCES
  deployment.cpp
  engine_release.cpp
)
