# What the generator needs too: YAML to typed records.
set(GPUPLAN_CATALOG_FACTS_SOURCES
  check.cpp
  dataset.cpp
  names.cpp
  read.cpp
)
set(GPUPLAN_CATALOG_SOURCES
  added_offers.cpp
  catalog.cpp
  measured_groups.cpp
  offer_class.cpp
  software.cpp
  show.cpp
)
