# The files of build/ and render/ are listed with their folder.
set(GPUPLAN_REPORT_SOURCES
  build/estimate.cpp
  build/lists.cpp
  build/parts.cpp
  build/records.cpp
  build/training.cpp
  render/assertion.cpp
  render/csv.cpp
  render/estimate_text.cpp
  render/json.cpp
  render/table.cpp
  render/text.cpp
  render/training_text.cpp
)
