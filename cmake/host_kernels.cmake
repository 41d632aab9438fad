# Kernels of the host backend. Each .cpp in an operation's folder, or in its folder host, is a technique.
# A file that includes kernels/common/cpu/target_begin.hpp is compiled once per instruction set, a file
# with target_begin_v4.hpp for x86-64-v4 only. The include decides, because such a file needs it anyway:
# a folder or a suffix would state the same fact twice. Object libraries, because a static library would
# drop the registrations.
function(add_host_kernels target)
  set(CMAKE_UNITY_BUILD OFF)  # techniques share names
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/kernels/*/*.cpp" "${CMAKE_SOURCE_DIR}/kernels/*/host/*.cpp")
  file(GLOB specifications CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/kernels/*/*.hpp")
  list(FILTER sources EXCLUDE REGEX "/kernels/common/|/cublas[a-z_]*[.]cpp$")  # CUDA libraries: cuda.cmake
  list(FILTER specifications EXCLUDE REGEX "^kernels/common/")

  # One generated file includes all specifications, which register their operations.
  list(TRANSFORM specifications REPLACE "(.+)" "#include \"\\1\"")
  list(JOIN specifications "\n" includes)
  set(operations "${CMAKE_BINARY_DIR}/generated/operations.cpp")
  file(CONFIGURE OUTPUT "${operations}" CONTENT "${includes}\n")

  set(portable "${operations}")
  set(per_isa "")
  set(only_4 "")
  foreach(source IN LISTS sources)
    file(STRINGS "${source}" marker REGEX "#include \"kernels/common/cpu/target_begin(_v4)?.hpp\"")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    if(marker MATCHES "_v4")
      list(APPEND only_4 "${source}")
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
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(levels 2 3 4)
  else()
    set(levels 0)
  endif()
  foreach(level IN LISTS levels)
    if(per_isa OR only_${level})
      set(isa $<IF:$<EQUAL:${level},0>,none,v${level}>)
      add_library(${target}_${level} OBJECT ${per_isa} ${only_${level}})
      target_compile_definitions(${target}_${level} PRIVATE RIDGEBENCH_ISA=${isa} RIDGEBENCH_ISA_LEVEL=${level})
      target_link_libraries(${target}_${level} PRIVATE ridgebench_common)
      list(APPEND objects $<TARGET_OBJECTS:${target}_${level}>)
    endif()
  endforeach()
  target_sources(${target} INTERFACE ${objects})
  target_link_libraries(${target} INTERFACE ridgebench_common)
endfunction()
