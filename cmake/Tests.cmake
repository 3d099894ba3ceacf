# How tests are registered; tests/CMakeLists.txt says which.

# gpuplan_add_tool_test(NAME TOOL ARG...): one of the Python checks in tools/.
function(gpuplan_add_tool_test name tool)
  add_test(NAME ${name} COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/${tool}" ${ARGN}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
endfunction()

# One test for each folder tests/golden/<command>/<case>/, so that one can be run alone: ctest -R golden.memory.llama
function(gpuplan_add_golden_tests)
  set(root "${PROJECT_SOURCE_DIR}/tests/golden")
  file(GLOB cases CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/*/*/cmd")
  foreach(case IN LISTS cases)
    get_filename_component(case "${case}" DIRECTORY)
    string(REPLACE "/" "." name "golden.${case}")
    gpuplan_add_tool_test(${name} golden --program "$<TARGET_FILE:gpuplan_cli>" "${root}/${case}")
  endforeach()
endfunction()

# One test for each file in examples/, run as its first line says.
function(gpuplan_add_example_tests)
  file(GLOB examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.yaml")
  foreach(example IN LISTS examples)
    get_filename_component(name "${example}" NAME_WE)
    gpuplan_add_tool_test(examples.${name} check_docs --program "$<TARGET_FILE:gpuplan_cli>" --example "${example}")
  endforeach()
endfunction()
