# gpuplan_sanitize(TARGET): with GPUPLAN_SANITIZE, every finding is fatal.
function(gpuplan_sanitize target)
  if(GPUPLAN_SANITIZE)
    set(flags -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(${target} PRIVATE ${flags})
    target_link_options(${target} PRIVATE ${flags})
  endif()
endfunction()
