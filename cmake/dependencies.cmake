# Libraries: the installed ones, else those of cmake/third_party.cmake. Configuring needs no network where the packages that
# scripts/setup.sh names are installed, or where the folder third_party holds their sources.
include(third_party)
set(RIDGEBENCH_MIRROR "" CACHE STRING "Folder or URL that has the archives which cmake/third_party.cmake lists")

# The libraries that are built from their sources: the static library ridgebench contains them.
set(RIDGEBENCH_BUILT_LIBRARIES "")

# Unpacks the library and adds its targets. Its headers count as the system's, where warnings are no errors.
function(build_third_party name)
  set(work "${CMAKE_BINARY_DIR}/third_party")
  find_archive(${name} "${CMAKE_SOURCE_DIR}/third_party" "${work}" ${RIDGEBENCH_FETCH} problem)
  if(problem)
    message(FATAL_ERROR "${problem}")
  endif()
  describe_third_party(${name})
  message(STATUS "${name} is not installed: building ${${name}_archive}")
  set(sources "${work}/${name}-${${name}_version}")
  if(NOT EXISTS "${sources}")
    file(ARCHIVE_EXTRACT INPUT "${work}/${${name}_archive}" DESTINATION "${sources}.partial")
    file(GLOB root "${sources}.partial/*")  # an archive has one folder
    if(name STREQUAL "re2")
      configure_file(cmake/re2_tables.cc "${root}/re2/perl_groups.cc" COPYONLY)
      file(TOUCH "${root}/re2/unicode_casefold.cc" "${root}/re2/unicode_groups.cc")
    endif()
    file(RENAME "${root}" "${sources}")
    file(REMOVE_RECURSE "${sources}.partial")
  endif()
  if(name STREQUAL "nlohmann_json" OR name STREQUAL "CLI11")  # headers alone
    add_library(${name} INTERFACE)
    target_include_directories(${name} SYSTEM INTERFACE "${sources}/include")
    add_library(${name}::${name} ALIAS ${name})
    return()
  endif()
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # the following are honoured
  set(CMAKE_WARN_DEPRECATED OFF)
  foreach(option BUILD_SHARED_LIBS BENCHMARK_ENABLE_TESTING BENCHMARK_ENABLE_WERROR BENCHMARK_ENABLE_INSTALL BENCHMARK_INSTALL_DOCS
      RE2_BUILD_TESTING INSTALL_GTEST)
    set(${option} OFF)
  endforeach()
  add_subdirectory("${sources}" "${work}/build/${name}" EXCLUDE_FROM_ALL)
  foreach(target ${ARGN})
    get_target_property(includes ${target} INTERFACE_INCLUDE_DIRECTORIES)
    set_target_properties(${target} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${includes}")
  endforeach()
endfunction()

# find_or_build(<package> <oldest version> <target> [<target that its sources make>...])
macro(find_or_build package oldest target)
  if(NOT TARGET ${target})
    find_package(${package} ${oldest} QUIET CONFIG)
  endif()
  if(NOT TARGET ${target})
    build_third_party(${package} ${ARGN})
    set(${package}_VERSION ${third_party_${package}})
    list(GET ${package}_VERSION 0 ${package}_VERSION)
    list(APPEND RIDGEBENCH_BUILT_LIBRARIES ${package})
  endif()
endmacro()

find_package(OpenMP COMPONENTS CXX)
if(NOT OpenMP_CXX_FOUND)
  set(hint "use g++")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    string(REGEX MATCH "^[0-9]+" major "${CMAKE_CXX_COMPILER_VERSION}")
    set(hint "install its library (Debian: libomp-${major}-dev), or use g++ with -DCMAKE_CXX_COMPILER=g++")
  endif()
  message(FATAL_ERROR " ${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}) has no OpenMP: ${hint}")
endif()
find_or_build(fmt 9.0 fmt::fmt fmt)
find_or_build(nlohmann_json 3.11 nlohmann_json::nlohmann_json)
find_or_build(CLI11 2.1 CLI11::CLI11)
find_or_build(benchmark 1.7 benchmark::benchmark benchmark)
# RE2 matches filters, which a user types, in linear time. Debian's package has no CMake file. Its static library keeps
# one more shared library from being needed where a program runs.
find_package(re2 QUIET)
find_path(RE2_INCLUDE re2/re2.h)
find_library(RE2_LIBRARY NAMES libre2.a re2)
find_library(RE2_SHARED_LIBRARY NAMES re2)
if(NOT RIDGEBENCH_RELEASE AND NOT TARGET re2::re2 AND RE2_INCLUDE AND RE2_LIBRARY AND RE2_SHARED_LIBRARY)
  file(STRINGS "${RE2_INCLUDE}/re2/re2.h" abseil REGEX "#include \"absl/")
  if(abseil)  # of Debian 13: only the shared library knows its libraries of Abseil
    set(RE2_LIBRARY "${RE2_SHARED_LIBRARY}")
  endif()
  # Debian's static library cannot be part of a shared one.
  add_library(re2::re2 INTERFACE IMPORTED)
  set_target_properties(re2::re2 PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${RE2_INCLUDE}" INTERFACE_LINK_LIBRARIES
    "$<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>,${RE2_SHARED_LIBRARY},${RE2_LIBRARY}>")
endif()
find_or_build(re2 "" re2::re2 re2)
if(RIDGEBENCH_TESTS)
  find_or_build(GTest 1.11 GTest::gmock gtest gmock)
endif()

# Yardsticks are optional: the program loads them when it first calls them, so a build needs their
# headers only. Without a header the rows are skipped and say why. find_path instead of oneDNN's CMake
# package, which fails without OpenCL's headers.
add_library(ridgebench_yardsticks INTERFACE)
find_path(OPENBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas-openmp
          ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp openblas)
if(OPENBLAS_INCLUDE)
  target_include_directories(ridgebench_yardsticks SYSTEM INTERFACE "${OPENBLAS_INCLUDE}")
  target_compile_definitions(ridgebench_yardsticks INTERFACE RIDGEBENCH_OPENBLAS)
endif()
find_path(DNNL_INCLUDE oneapi/dnnl/dnnl.h)
if(DNNL_INCLUDE)
  target_include_directories(ridgebench_yardsticks SYSTEM INTERFACE "${DNNL_INCLUDE}")
  target_compile_definitions(ridgebench_yardsticks INTERFACE RIDGEBENCH_ONEDNN)
endif()
