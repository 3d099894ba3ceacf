# gpuplan_warnings(TARGET): what both GCC 12 and clang 14 are asked to look for. Library headers are system headers and
# stay silent.
function(gpuplan_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    # Records have defaults for every member; naming only some of them is how they are meant to be used.
    -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports overlapping copies inside std::string concatenation that cannot happen (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict)
    if(GPUPLAN_SANITIZE)
      # Instrumented code defeats GCC's flow analysis of std::optional and std::variant.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
  endif()
  if(GPUPLAN_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
