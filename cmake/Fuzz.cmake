# GPUPLAN_FUZZ: everything is compiled for coverage-guided fuzzing, under the sanitizers. Included before any target.
if(GPUPLAN_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "GPUPLAN_FUZZ needs clang with libFuzzer (on Debian: clang and libclang-rt-14-dev)")
  endif()
  set(GPUPLAN_SANITIZE ON)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
