# Kernels of the host backend. Each .cpp in an operation's folder, or in its folder host or sweep, is a
# technique.
# A file that includes kernels/common/cpu/target_begin.hpp is compiled once per instruction set of the
# architecture; a file with target_begin_v4.hpp for x86-64-v4 only, one with target_begin_sve.hpp for ARM's
# SVE only. The include decides, because such a file needs it anyway:
# a folder or a suffix would state the same fact twice. Object libraries, because a static library would
# drop the registrations.
set(RIDGEBENCH_HOST_LEVELS all CACHE STRING "Levels of x86-64 that host kernels are compiled for: all, or native for this processor's only")

function(add_host_kernels target)
  set(CMAKE_UNITY_BUILD OFF)  # techniques share names
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/kernels/*/*.cpp" "${CMAKE_SOURCE_DIR}/kernels/*/host/*.cpp"
    "${CMAKE_SOURCE_DIR}/kernels/*/sweep/*.cpp")
  file(GLOB specifications CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/kernels/*/*.hpp"
    "${CMAKE_SOURCE_DIR}/kernels/*/sweep/*.hpp")
  list(FILTER sources EXCLUDE REGEX "/kernels/common/|/cublas[a-z_]*[.]cpp$")  # CUDA libraries: cuda.cmake
  list(FILTER specifications EXCLUDE REGEX "^kernels/common/")

  # One generated file includes all specifications, which register their operations.
  list(TRANSFORM specifications REPLACE "(.+)" "#include \"\\1\"")
  list(JOIN specifications "\n" includes)
  set(operations "${CMAKE_BINARY_DIR}/generated/operations.cpp")
  file(CONFIGURE OUTPUT "${operations}" CONTENT "${includes}\n")

  set(portable "${operations}")
  set(per_isa "")
  set(only_v4 "")
  set(only_sve "")
  foreach(source IN LISTS sources)
    file(STRINGS "${source}" marker REGEX "#include \"kernels/common/cpu/target_begin(_v4|_sve)?[.]hpp\"")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    if(marker MATCHES "begin_(v4|sve)")
      list(APPEND only_${CMAKE_MATCH_1} "${source}")
    elseif(marker)
      list(APPEND per_isa "${source}")
    else()
      list(APPEND portable "${source}")
    endif()
  endforeach()

  add_library(${target} INTERFACE)
  add_library(${target}_portable OBJECT ${portable})
  set(objects $<TARGET_OBJECTS:${target}_portable>)
  target_link_libraries(${target}_portable PRIVATE ridgebench_common)
  target_precompile_headers(${target}_portable REUSE_FROM ridgebench_common)
  # <Isa of isa_level.hpp>:<RIDGEBENCH_ISA_LEVEL>. Clang does not know the pragma of target_begin.hpp.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(levels v2:2)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      list(APPEND levels v3:3 v4:4)
      native_level(native)
      if(native)
        set(levels ${native})
      endif()
    endif()
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(levels armv8:0)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      list(APPEND levels sve:1)
    endif()
  else()
    set(levels none:0)
  endif()
  foreach(entry IN LISTS levels)
    string(REPLACE ":" ";" entry "${entry}")
    list(POP_FRONT entry isa level)
    set(of_level ${per_isa} ${only_${isa}})
    if(isa STREQUAL sve)
      set(of_level ${only_sve})
    endif()
    if(of_level)
      add_library(${target}_${isa} OBJECT ${of_level})
      target_compile_definitions(${target}_${isa} PRIVATE RIDGEBENCH_ISA=${isa} RIDGEBENCH_ISA_LEVEL=${level})
      target_link_libraries(${target}_${isa} PRIVATE ridgebench_common)
      target_precompile_headers(${target}_${isa} REUSE_FROM ridgebench_common)
      list(APPEND objects $<TARGET_OBJECTS:${target}_${isa}>)
    endif()
  endforeach()
  target_sources(${target} INTERFACE ${objects})
  target_link_libraries(${target} INTERFACE ridgebench_common)
endfunction()

# Sets <result> to the level of this processor, in the form of the list above, if the kernels are compiled for it only; all
# levels are compiled if it cannot be found out. The program refuses other processors, because it would measure slower kernels
# there, or none. Each configuration looks anew, because the folder may have come from another machine.
function(native_level result)
  set(${result} "" PARENT_SCOPE)
  if(NOT RIDGEBENCH_HOST_LEVELS MATCHES "^(all|native)$")
    message(FATAL_ERROR "RIDGEBENCH_HOST_LEVELS is '${RIDGEBENCH_HOST_LEVELS}'; allowed: all, native")
  endif()
  if(RIDGEBENCH_HOST_LEVELS STREQUAL "all" OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(source "${CMAKE_BINARY_DIR}/generated/native_level.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT
"#include \"kernels/common/isa_level.cpp\"
int main() { return static_cast<int>(ridgebench::host_isa()) + 1; }
")
  unset(RIDGEBENCH_NATIVE_LEVEL CACHE)
  unset(RIDGEBENCH_NATIVE_LEVEL_COMPILES CACHE)
  try_run(RIDGEBENCH_NATIVE_LEVEL RIDGEBENCH_NATIVE_LEVEL_COMPILES "${CMAKE_BINARY_DIR}/native_level" "${source}"
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${CMAKE_SOURCE_DIR}" CXX_STANDARD 20)
  if(RIDGEBENCH_NATIVE_LEVEL MATCHES "^[234]$")
    set(level "${RIDGEBENCH_NATIVE_LEVEL}")
    set(${result} v${level}:${level} PARENT_SCOPE)
    set_source_files_properties(kernels/common/isa_level.cpp PROPERTIES COMPILE_DEFINITIONS RIDGEBENCH_ONLY_ISA=v${level})
  endif()
endfunction()
