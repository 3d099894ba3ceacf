# Every library we use. Distributions differ in whether a package brings a CMake config and in what its target is called;
# below this file only these names exist:
#
#   CLI11::CLI11  fmt::fmt  gpuplan_yaml  nlohmann_json::nlohmann_json  Eigen3::Eigen  gpuplan_curl  gpuplan_sqlite
#   gpuplan_catch2 (with a main), and GPUPLAN_CATCH2_VERSION_MAJOR; only when the tests are built

# gpuplan_fallback(TARGET HEADER PACKAGE [LIBRARY] [SUFFIX...]): makes TARGET from the header and library on the system
# when no config package did. System headers either way: their warnings are not ours.
function(gpuplan_fallback target header package)
  cmake_parse_arguments(arg "" "LIBRARY" "SUFFIXES" ${ARGN})
  if(TARGET ${target})
    return()
  endif()
  string(MAKE_C_IDENTIFIER "GPUPLAN_${package}" var)
  find_path(${var}_INCLUDE_DIR ${header} PATH_SUFFIXES ${arg_SUFFIXES})
  mark_as_advanced(${var}_INCLUDE_DIR)
  if(NOT ${var}_INCLUDE_DIR)
    message(FATAL_ERROR "${package} was not found: <${header}> is missing. On Debian: scripts/install-packages")
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${${var}_INCLUDE_DIR}")
  if(arg_LIBRARY)
    find_library(${var}_LIBRARY ${arg_LIBRARY})
    mark_as_advanced(${var}_LIBRARY)
    if(NOT ${var}_LIBRARY)
      message(FATAL_ERROR "${package} was not found: the library '${arg_LIBRARY}' is missing")
    endif()
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${${var}_LIBRARY}")
  endif()
endfunction()

find_package(CLI11 CONFIG QUIET)
gpuplan_fallback(CLI11::CLI11 CLI/CLI.hpp CLI11)

find_package(fmt CONFIG QUIET)
gpuplan_fallback(fmt::fmt fmt/format.h fmt LIBRARY fmt)

find_package(nlohmann_json CONFIG QUIET)
gpuplan_fallback(nlohmann_json::nlohmann_json nlohmann/json.hpp nlohmann_json)

find_package(Eigen3 CONFIG QUIET)
gpuplan_fallback(Eigen3::Eigen Eigen/Core Eigen3 SUFFIXES eigen3)

# yaml-cpp 0.8 calls its target yaml-cpp::yaml-cpp, 0.7 plain yaml-cpp.
find_package(yaml-cpp CONFIG QUIET)
add_library(gpuplan_yaml INTERFACE)
if(TARGET yaml-cpp::yaml-cpp)
  target_link_libraries(gpuplan_yaml INTERFACE yaml-cpp::yaml-cpp)
elseif(TARGET yaml-cpp)
  target_link_libraries(gpuplan_yaml INTERFACE yaml-cpp)
else()
  gpuplan_fallback(yaml-cpp::yaml-cpp yaml-cpp/yaml.h yaml-cpp LIBRARY yaml-cpp)
  target_link_libraries(gpuplan_yaml INTERFACE yaml-cpp::yaml-cpp)
endif()

# libcurl's headers only: the library is loaded on first use (src/net/curl_library.cpp), because linking it costs every
# run of the program 4 ms at its start. 7.85 brought CURLOPT_PROTOCOLS_STR.
find_package(CURL 7.85 REQUIRED)
add_library(gpuplan_curl INTERFACE)
target_include_directories(gpuplan_curl SYSTEM INTERFACE ${CURL_INCLUDE_DIRS})
target_link_libraries(gpuplan_curl INTERFACE ${CMAKE_DL_LIBS})

# SQLite's header only: the library is loaded on first use (src/prices/sqlite_library.cpp); linked in, it costs every run of
# the program 0.4 ms at its start. 3.35 brought what the price store's statements use.
find_package(SQLite3 3.35 REQUIRED)
add_library(gpuplan_sqlite INTERFACE)
target_include_directories(gpuplan_sqlite SYSTEM INTERFACE ${SQLite3_INCLUDE_DIRS})

if(GPUPLAN_BUILD_TESTS)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  find_package(Catch2 3 CONFIG QUIET)
  if(NOT Catch2_FOUND)
    find_package(Catch2 2.13 CONFIG REQUIRED)
  endif()
  string(REGEX MATCH "^[0-9]+" GPUPLAN_CATCH2_VERSION_MAJOR "${Catch2_VERSION}")
  add_library(gpuplan_catch2 INTERFACE)
  if(TARGET Catch2::Catch2WithMain)
    target_link_libraries(gpuplan_catch2 INTERFACE Catch2::Catch2WithMain)
  else()  # a header-only Catch2 2: the main is ours
    file(WRITE "${PROJECT_BINARY_DIR}/generated/catch_main.cpp"
      "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
    add_library(gpuplan_catch_main STATIC "${PROJECT_BINARY_DIR}/generated/catch_main.cpp")
    target_link_libraries(gpuplan_catch_main PUBLIC Catch2::Catch2)
    target_link_libraries(gpuplan_catch2 INTERFACE gpuplan_catch_main)
  endif()
endif()
