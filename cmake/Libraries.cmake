# The libraries and the program. Each module lists its files in src/<module>/sources.cmake, relative to that folder, and
# nothing else names a source file.
#
#   gpuplan_base    src/base
#   gpuplan_facts   the part of src/catalog that turns YAML into typed records; the generator below uses it too
#   embed_catalog   checks data/*.yaml at build time and writes them as C++: generated/catalog_data.cpp
#   embed_measured  writes which measurements data/measured has: generated/measured_data.cpp
#   fit             fits the constants of data/engines.yaml to data/measured; by hand, not part of a build
#   fit_collectives fits the constants of data/links.yaml to data/measured/collectives.csv; by hand, not part of a build
#   accuracy        how far counted weights are from published sizes; by hand, not part of a build
#   gpuplan         everything but cli; others link to it as gpuplan::gpuplan
#   gpuplan_cli     the program, build/<preset>/gpuplan

set(GPUPLAN_LIBRARY_MODULES net catalog prices model job topology deploy memory perf validation cost planner report)

include(src/base/sources.cmake)
include(src/cli/sources.cmake)
foreach(module IN LISTS GPUPLAN_LIBRARY_MODULES)
  include(src/${module}/sources.cmake)
endforeach()

# gpuplan_sources(OUT MODULE FILE...): the files as absolute paths.
function(gpuplan_sources out module)
  set(paths ${ARGN})
  list(TRANSFORM paths PREPEND "${PROJECT_SOURCE_DIR}/src/${module}/")
  set(${out} ${paths} PARENT_SCOPE)
endfunction()

# What every target of ours is compiled with.
function(gpuplan_configure target)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
  target_compile_features(${target} PUBLIC cxx_std_20)
  gpuplan_warnings(${target})
  gpuplan_sanitize(${target})
  if(NOT APPLE)
    target_link_options(${target} PRIVATE LINKER:--as-needed)  # each library that is not loaded saves start-up time
  endif()
endfunction()

gpuplan_sources(files base ${GPUPLAN_BASE_SOURCES})
add_library(gpuplan_base STATIC ${files})
gpuplan_configure(gpuplan_base)
target_link_libraries(gpuplan_base PUBLIC fmt::fmt PRIVATE gpuplan_yaml nlohmann_json::nlohmann_json)

# The guards below let the tree build while a stage has no sources yet.
if(GPUPLAN_CATALOG_FACTS_SOURCES)
  gpuplan_sources(files catalog ${GPUPLAN_CATALOG_FACTS_SOURCES})
  add_library(gpuplan_facts STATIC ${files})
  gpuplan_configure(gpuplan_facts)
  target_link_libraries(gpuplan_facts PUBLIC gpuplan_base)
endif()

set(GPUPLAN_SOURCES)
foreach(module IN LISTS GPUPLAN_LIBRARY_MODULES)
  string(TOUPPER ${module} upper)
  gpuplan_sources(files ${module} ${GPUPLAN_${upper}_SOURCES})
  list(APPEND GPUPLAN_SOURCES ${files})
endforeach()

if(TARGET gpuplan_facts AND EXISTS "${PROJECT_SOURCE_DIR}/tools/embed_catalog.cpp")
  add_executable(embed_catalog tools/embed_catalog.cpp)
  gpuplan_configure(embed_catalog)
  target_link_libraries(embed_catalog PRIVATE gpuplan_facts)

  # usage: embed_catalog OUTPUT.cpp FILE.yaml...
  file(GLOB GPUPLAN_DATA_FILES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/data/*.yaml")
  set(GPUPLAN_CATALOG_DATA "${PROJECT_BINARY_DIR}/generated/catalog_data.cpp")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/generated")
  add_custom_command(
    OUTPUT "${GPUPLAN_CATALOG_DATA}"
    COMMAND embed_catalog "${GPUPLAN_CATALOG_DATA}" ${GPUPLAN_DATA_FILES}
    DEPENDS embed_catalog ${GPUPLAN_DATA_FILES}
    COMMENT "Checking and embedding data/*.yaml"
    VERBATIM)
  list(APPEND GPUPLAN_SOURCES "${GPUPLAN_CATALOG_DATA}")
  set_source_files_properties("${GPUPLAN_CATALOG_DATA}" PROPERTIES
    INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/src/catalog"  # embedded.hpp
    COMPILE_OPTIONS "-O0")  # tables only: optimising them costs time and gains nothing
endif()

add_executable(embed_measured tools/embed_measured.cpp src/validation/csv.cpp)
gpuplan_configure(embed_measured)
target_link_libraries(embed_measured PRIVATE gpuplan_base)
set(GPUPLAN_MEASURED_FILES inference cpu_slices memory parts_time images training_time training parts_training)
list(TRANSFORM GPUPLAN_MEASURED_FILES REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/data/measured/\\1.csv")
set(GPUPLAN_MEASURED_DATA "${PROJECT_BINARY_DIR}/generated/measured_data.cpp")
add_custom_command(
  OUTPUT "${GPUPLAN_MEASURED_DATA}"
  COMMAND embed_measured "${GPUPLAN_MEASURED_DATA}" ${GPUPLAN_MEASURED_FILES}
  DEPENDS embed_measured ${GPUPLAN_MEASURED_FILES}
  COMMENT "Embedding which measurements there are"
  VERBATIM)
list(APPEND GPUPLAN_SOURCES "${GPUPLAN_MEASURED_DATA}")
set_source_files_properties("${GPUPLAN_MEASURED_DATA}" PROPERTIES
  INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/src/catalog")  # measured_data.hpp

if(GPUPLAN_SOURCES)
  add_library(gpuplan STATIC ${GPUPLAN_SOURCES})
  set_target_properties(gpuplan PROPERTIES OUTPUT_NAME gpuplan_core)
  target_link_libraries(gpuplan PUBLIC gpuplan_base PRIVATE Eigen3::Eigen nlohmann_json::nlohmann_json gpuplan_curl gpuplan_sqlite)
  if(TARGET gpuplan_facts)
    target_link_libraries(gpuplan PUBLIC gpuplan_facts)
  endif()
  target_compile_definitions(gpuplan PRIVATE GPUPLAN_VERSION="${PROJECT_VERSION}")
  gpuplan_configure(gpuplan)
  add_library(gpuplan::gpuplan ALIAS gpuplan)
endif()

# Programs that are run by hand, over the library.
function(gpuplan_hand_tool name source)
  if(TARGET gpuplan AND EXISTS "${PROJECT_SOURCE_DIR}/${source}")
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    gpuplan_configure(${name})
    target_link_libraries(${name} PRIVATE gpuplan::gpuplan)
  endif()
endfunction()
gpuplan_hand_tool(fit tools/fit.cpp)               # after a change of data/measured or of perf
gpuplan_hand_tool(fit_training tools/fit_training.cpp)
gpuplan_hand_tool(fit_parts tools/fit_parts.cpp)
gpuplan_hand_tool(fit_collectives tools/fit_collectives.cpp)  # after a change of data/measured/collectives.csv or of topology
gpuplan_hand_tool(accuracy tools/accuracy.cpp)     # accuracy data/measured/weights.csv
gpuplan_hand_tool(layouts bench/layouts.cpp)       # from bench/run: how fast layouts of training jobs are searched
gpuplan_hand_tool(footprints bench/footprints.cpp) # from bench/run: how long a million footprints take

if(GPUPLAN_CLI_SOURCES)
  gpuplan_sources(files cli ${GPUPLAN_CLI_SOURCES})
  add_executable(gpuplan_cli ${files})
  set_target_properties(gpuplan_cli PROPERTIES
    OUTPUT_NAME gpuplan
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_compile_definitions(gpuplan_cli PRIVATE GPUPLAN_VERSION="${PROJECT_VERSION}")
  target_link_libraries(gpuplan_cli PRIVATE gpuplan_base CLI11::CLI11)
  if(TARGET gpuplan)
    target_link_libraries(gpuplan_cli PRIVATE gpuplan::gpuplan)
  endif()
  gpuplan_configure(gpuplan_cli)
endif()
