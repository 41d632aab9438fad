# Whether a toolkit can build the CUDA half. A function alone: a test calls it in script mode.
set(RIDGEBENCH_OLDEST_CUDA 12.8)

# Stops with the reason where <nvcc> does not run, is too old, or cannot compile with the host compiler.
function(require_usable_nvcc nvcc host_compiler)
  set(advice "Install CUDA ${RIDGEBENCH_OLDEST_CUDA} or newer, name its compiler with -DRIDGEBENCH_NVCC=PATH, or build the host half alone with -DRIDGEBENCH_CUDA=OFF.")
  execute_process(COMMAND "${nvcc}" --version RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE errors)
  if(failed OR NOT text MATCHES "release ([0-9]+[.][0-9]+)")
    string(STRIP "${errors}" errors)
    message(FATAL_ERROR "${nvcc} --version fails (${failed}). ${errors}\n${advice}")
  endif()
  if(CMAKE_MATCH_1 VERSION_LESS RIDGEBENCH_OLDEST_CUDA)
    message(FATAL_ERROR "${nvcc} is of CUDA ${CMAKE_MATCH_1}, which is too old. ${advice}")
  endif()
  set(folder "${CMAKE_BINARY_DIR}/usable_nvcc")
  file(WRITE "${folder}/kernel.cu" "#include <cstddef>\n__global__ void kernel(std::size_t* x) { *x = sizeof *x; }\n")
  execute_process(COMMAND "${nvcc}" -ccbin "${host_compiler}" -std=c++20 -c kernel.cu -o kernel.o
    WORKING_DIRECTORY "${folder}" RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE errors)
  if(failed)
    string(STRIP "${text}${errors}" errors)
    string(SUBSTRING "${errors}" 0 600 errors)
    message(FATAL_ERROR "${nvcc} cannot compile with the host compiler ${host_compiler}:\n${errors}\n${advice}")
  endif()
endfunction()
