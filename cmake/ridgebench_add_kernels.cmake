# ridgebench_add_kernels(<name> <source>... [STANDALONE]) builds lib<name>.so, which `ridgebench run --load lib<name>.so`
# loads. The extension is the backend: a .cu is a kernel of a GPU, for the project's CMAKE_CUDA_ARCHITECTURES (90a for
# wgmma), a .cpp one of a host. STANDALONE also builds the program <name>, which is ridgebench with these kernels, as the
# target <name>_program.

# How the sources are compiled, once for the shared object and the program.
function(_ridgebench_compile objects)
  # A kernel without optimization is not worth a measurement. Warning 445 is about lambdas with a template parameter that
  # no parameter deduces, as registrations have.
  target_compile_options(${objects} PRIVATE $<$<CONFIG:>:-O3>
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--diag-suppress=445;-lineinfo;-Xcompiler=-fopenmp>")
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF
    CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
endfunction()

# Sets <result> to the libraries that the archive needs: those that it does not contain.
macro(_ridgebench_find_libraries name result)
  set(${result} "")
  foreach(package Threads fmt benchmark)
    if(package IN_LIST ridgebench_CONTAINS)
      continue()
    endif()
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
      message(FATAL_ERROR "ridgebench_add_kernels(${name}): STANDALONE needs the library ${package}, which is not installed")
    endif()
    list(APPEND ${result} ${package}::${package})
  endforeach()
  if(NOT re2 IN_LIST ridgebench_CONTAINS)
    find_library(RIDGEBENCH_RE2 NAMES re2)
    if(NOT RIDGEBENCH_RE2)
      message(FATAL_ERROR "ridgebench_add_kernels(${name}): STANDALONE needs the library re2, which is not installed")
    endif()
    list(APPEND ${result} "${RIDGEBENCH_RE2}")
  endif()
endmacro()

function(ridgebench_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STANDALONE" "" "")
  set(sources ${arg_UNPARSED_ARGUMENTS})
  if(NOT sources)
    message(FATAL_ERROR "ridgebench_add_kernels(${name}): no source is named")
  endif()
  set(cuda_sources ${sources})
  list(FILTER cuda_sources INCLUDE REGEX "[.]cu$")
  set(libraries ridgebench::kernel)
  if(cuda_sources)
    if(NOT CMAKE_CUDA_COMPILER)
      message(FATAL_ERROR "ridgebench_add_kernels(${name}): ${cuda_sources} needs CUDA; allowed: project(... LANGUAGES CXX CUDA)")
    endif()
    find_package(CUDAToolkit REQUIRED)
    # A program with the same runtime keeps its own, and so does the shared object.
    list(APPEND libraries CUDA::cudart_static "-Wl,--exclude-libs,libcudart_static.a:libcudadevrt.a")
  endif()
  # The tag by which the program knows that it can load the file.
  set(tag "${CMAKE_CURRENT_BINARY_DIR}/${name}_kernel_interface.cpp")
  file(CONFIGURE OUTPUT "${tag}" CONTENT "#include <ridgebench/kernel.hpp>\n")

  add_library(${name}_objects OBJECT ${sources} "${tag}")
  _ridgebench_compile(${name}_objects)
  target_link_libraries(${name}_objects PRIVATE ${libraries})
  add_library(${name} MODULE $<TARGET_OBJECTS:${name}_objects>)
  set_target_properties(${name} PROPERTIES PREFIX lib LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PRIVATE ${libraries})
  if(NOT arg_STANDALONE)
    return()
  endif()
  if(NOT EXISTS "${ridgebench_ARCHIVE}")
    message(FATAL_ERROR "ridgebench_add_kernels(${name}): STANDALONE needs ${ridgebench_ARCHIVE}, which wheels lack; allowed: what `cmake --install` makes")
  endif()
  _ridgebench_find_libraries(${name} needed)
  add_executable(${name}_program $<TARGET_OBJECTS:${name}_objects>)
  set_target_properties(${name}_program PROPERTIES OUTPUT_NAME ${name} ENABLE_EXPORTS ON LINKER_LANGUAGE CXX)
  # The whole archive: nothing calls the objects that register kernels and devices. An option, for a path with blanks.
  target_link_options(${name}_program PRIVATE "-Wl,--whole-archive,${ridgebench_ARCHIVE},--no-whole-archive")
  set_target_properties(${name}_program PROPERTIES LINK_DEPENDS "${ridgebench_ARCHIVE}")
  target_link_libraries(${name}_program PRIVATE ${libraries} ${needed} ${CMAKE_DL_LIBS})
  if(ridgebench_HAS_CUDA AND NOT cuda_sources)
    find_package(CUDAToolkit REQUIRED)
    target_link_libraries(${name}_program PRIVATE CUDA::cudart_static)
  endif()
endfunction()
