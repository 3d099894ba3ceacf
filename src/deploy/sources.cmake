set(GPUPLAN_DEPLOY_SOURCES
  deployment.cpp
)
