# What the generator needs too: YAML to typed records.
set(GPUPLAN_CATALOG_FACTS_SOURCES
  check.cpp
  dataset.cpp
  names.cpp
  read.cpp
  use_cases.cpp
)
set(GPUPLAN_CATALOG_SOURCES
  added_offers.cpp
  catalog.cpp
  measured_groups.cpp
  offer_class.cpp
  built_in_use_cases.cpp
  software.cpp
  show.cpp
)
