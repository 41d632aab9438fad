# Libraries: the installed ones, else (RIDGEBENCH_FETCH) pinned downloads. Configuring needs no
# network when the packages that scripts/setup.sh names are installed.
include(FetchContent)
set(FETCHCONTENT_QUIET OFF)

# find_or_fetch(<package> <target> <GitHub repository> <tag>): find_package, else FetchContent.
macro(find_or_fetch package target repository tag)
  find_package(${package} QUIET)
  if(NOT TARGET ${target})
    if(NOT RIDGEBENCH_FETCH)
      message(FATAL_ERROR "${package} is not installed; run scripts/setup.sh")
    endif()
    message(STATUS "${package} is not installed: fetching ${repository} ${tag}")
    FetchContent_Declare(${package} GIT_REPOSITORY "https://github.com/${repository}.git" GIT_TAG ${tag}
                         GIT_SHALLOW TRUE)
    FetchContent_MakeAvailable(${package})
    string(TOLOWER ${package} folder)
    set_property(DIRECTORY "${${folder}_SOURCE_DIR}" PROPERTY EXCLUDE_FROM_ALL ON)  # it installs nothing
  endif()
endmacro()

set(BENCHMARK_ENABLE_TESTING OFF CACHE BOOL "" FORCE)
set(JSON_BuildTests OFF CACHE BOOL "" FORCE)
find_package(OpenMP COMPONENTS CXX)
if(NOT OpenMP_CXX_FOUND)
  set(hint "use g++")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    string(REGEX MATCH "^[0-9]+" major "${CMAKE_CXX_COMPILER_VERSION}")
    set(hint "install its library (Debian: libomp-${major}-dev), or use g++ with -DCMAKE_CXX_COMPILER=g++")
  endif()
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}) has no OpenMP: ${hint}")
endif()
find_package(OpenSSL REQUIRED COMPONENTS Crypto)  # SHA-256 of what a run leaves
find_or_fetch(fmt fmt::fmt fmtlib/fmt 9.1.0)
find_or_fetch(nlohmann_json nlohmann_json::nlohmann_json nlohmann/json v3.11.2)
find_or_fetch(CLI11 CLI11::CLI11 CLIUtils/CLI11 v2.1.2)
find_or_fetch(benchmark benchmark::benchmark google/benchmark v1.9.4)
# RE2 matches filters, which a user types, in linear time. Debian's package has no CMake file. Its static library keeps
# one more shared library from being needed where a program runs.
find_package(re2 QUIET)
find_path(RE2_INCLUDE re2/re2.h)
find_library(RE2_LIBRARY NAMES libre2.a re2)
find_library(RE2_SHARED_LIBRARY NAMES re2)
if(NOT RIDGEBENCH_RELEASE AND NOT TARGET re2::re2 AND RE2_INCLUDE AND RE2_LIBRARY AND RE2_SHARED_LIBRARY)
  # Debian's static library cannot be part of a shared one.
  add_library(re2::re2 INTERFACE IMPORTED)
  set_target_properties(re2::re2 PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${RE2_INCLUDE}" INTERFACE_LINK_LIBRARIES
    "$<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>,${RE2_SHARED_LIBRARY},${RE2_LIBRARY}>")
endif()
set(RE2_BUILD_TESTING OFF CACHE BOOL "" FORCE)
find_or_fetch(re2 re2::re2 google/re2 2022-06-01)  # later versions need Abseil
if(RIDGEBENCH_TESTS)
  find_or_fetch(GTest GTest::gmock_main google/googletest v1.15.2)
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
