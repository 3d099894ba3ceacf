set(GPUPLAN_COST_SOURCES
  money.cpp
  offer_cost.cpp
)
