# Whether a toolkit can build the CUDA half. A function alone: a test calls it in script mode.
set(RIDGEBENCH_OLDEST_CUDA 12.0)  # the first with C++20 and with the instructions of compute capability 9.0

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
    # The first error alone. The header of nvcc says which versions of a compiler it takes, and how to go on without.
    string(REGEX MATCH "[^\n]*error[^\n]*" first "${text}${errors}")
    string(REGEX REPLACE "^.*#error +-- +| The nvcc flag .*" "" first "${first}")
    if(NOT first)
      string(STRIP "${text}${errors}" first)
      string(SUBSTRING "${first}" 0 300 first)
    endif()
    message(FATAL_ERROR "${nvcc} cannot compile with the host compiler ${host_compiler}: ${first} "
      "Name one that it takes with -DCMAKE_CUDA_HOST_COMPILER=PATH. ${advice}")
  endif()
endfunction()

# Sets <result> to the option of nvcc <version> that compresses cubins, or with <readable> leaves them as they are: tests
# read their instructions.
function(cubin_compression version readable result)
  set(compressed --compress-mode=size)
  set(plain --compress-mode=none)
  if(version VERSION_LESS 12.8)
    set(compressed -Xfatbin=-compress-all)
    set(plain --no-compress)
  endif()
  if(readable)
    set(compressed "${plain}")
  endif()
  set(${result} "${compressed}" PARENT_SCOPE)
endfunction()
