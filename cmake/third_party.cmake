# The libraries that ridgebench builds from their sources where they are not installed: the only list of them. An
# archive is known by its SHA-256, wherever it comes from: the folder third_party beside the sources, a mirror
# (RIDGEBENCH_MIRROR, a folder or a URL), the public addresses.
#
# cmake [-DRIDGEBENCH_MIRROR=...] [-DFOLDER=...] -P cmake/third_party.cmake fills third_party, or FOLDER, with all of them.
# Such a folder serves as a mirror.
cmake_minimum_required(VERSION 3.22)

set(debian https://deb.debian.org/debian/pool/main)
set(snapshot https://snapshot.debian.org/archive/debian/20250520T000000Z/pool/main)
set(github https://github.com)

# The names are those of the CMake packages. Each has: version, archive, SHA-256, Debian's package, addresses. Debian's
# archives of Google Benchmark, JSON and GoogleTest are GitHub's, byte for byte; it has packed the others anew, fmt and
# CLI11 without documents, RE2 without generated files, for which re2_tables.cc stands in.
set(RIDGEBENCH_THIRD_PARTY fmt nlohmann_json CLI11 benchmark re2 GTest)
set(third_party_fmt 9.1.0 fmt-9.1.0.tar.gz
  84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583 libfmt-dev
  ${debian}/f/fmtlib/fmtlib_9.1.0+ds1.orig.tar.gz
  ${snapshot}/f/fmtlib/fmtlib_9.1.0+ds1.orig.tar.gz)
set(third_party_nlohmann_json 3.11.2 nlohmann_json-3.11.2.tar.gz
  d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273 nlohmann-json3-dev
  ${github}/nlohmann/json/archive/refs/tags/v3.11.2.tar.gz
  ${debian}/n/nlohmann-json3/nlohmann-json3_3.11.2.orig.tar.gz)
set(third_party_CLI11 2.1.2 CLI11-2.1.2.tar.xz
  8143d20b688e98ccce8e24562d3b68e5f47c12e896c42c7ca8553dbde5bed55d libcli11-dev
  ${debian}/c/cli11/cli11_2.1.2+ds.orig.tar.xz
  ${snapshot}/c/cli11/cli11_2.1.2+ds.orig.tar.xz)
set(third_party_benchmark 1.9.1 benchmark-1.9.1.tar.gz
  32131c08ee31eeff2c8968d7e874f3cb648034377dfc32a4c377fa8796d84981 libbenchmark-dev
  ${github}/google/benchmark/archive/refs/tags/v1.9.1.tar.gz
  ${debian}/b/benchmark/benchmark_1.9.1.orig.tar.gz)
set(third_party_re2 2022-06-01 re2-2022-06-01.tar.xz  # later versions need Abseil
  3bc61251da3b0b97be40a8a127818c517c62516e4eda11fc901d29496663df54 libre2-dev
  ${debian}/r/re2/re2_20220601+dfsg.orig.tar.xz
  ${snapshot}/r/re2/re2_20220601+dfsg.orig.tar.xz)
set(third_party_GTest 1.12.1 GTest-1.12.1.tar.gz
  81964fe578e9bd7c94dfdb09c8e4d6e6759e19967e397dbea48d1c10e45d0df2 libgmock-dev
  ${github}/google/googletest/archive/refs/tags/release-1.12.1.tar.gz
  ${debian}/g/googletest/googletest_1.12.1.orig.tar.gz)

# Sets <name>_version, _archive, _sha256, _package and _addresses.
macro(describe_third_party name)
  set(${name}_addresses ${third_party_${name}})
  foreach(field version archive sha256 package)
    list(POP_FRONT ${name}_addresses ${name}_${field})
  endforeach()
endmacro()

# Copies or downloads <from> to <file>; sets <problem>, which is empty where <file> has the right bytes.
function(obtain_archive from file sha256 problem)
  if(from MATCHES "^[a-z]+://")
    message(STATUS "Downloading ${from}")
    file(DOWNLOAD "${from}" "${file}" STATUS status INACTIVITY_TIMEOUT 10 TIMEOUT 60)
    list(GET status 0 failed)
    list(GET status 1 text)
  else()
    get_filename_component(folder "${file}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    file(COPY_FILE "${from}" "${file}" RESULT failed)
    set(text "${failed}")
  endif()
  set(${problem} "" PARENT_SCOPE)
  if(NOT failed)
    file(SHA256 "${file}" found)
    if(found STREQUAL sha256)
      return()
    endif()
    set(text "its SHA-256 is ${found}, not ${sha256}")
  endif()
  file(REMOVE "${file}")
  string(REPLACE "\"" "" text "${text}")
  set(${problem} "${from}: ${text}" PARENT_SCOPE)
endfunction()

# Puts the archive of library <name> into <folder>: from the folder <beside>, from the mirror, or from a public address
# where <online> is true. A wrong archive beside the sources or on the mirror stops the search. Sets <problem>, which is
# empty if it succeeds, else one line; CMake does not break a line that begins with a blank.
function(find_archive name beside folder online problem)
  describe_third_party(${name})
  set(${problem} "" PARENT_SCOPE)
  set(file "${folder}/${${name}_archive}")
  if(EXISTS "${file}")
    file(SHA256 "${file}" found)
    if(found STREQUAL ${name}_sha256)
      return()
    endif()
  endif()
  set(source "")
  if(EXISTS "${beside}/${${name}_archive}")
    set(source "${beside}/${${name}_archive}")
  elseif(RIDGEBENCH_MIRROR)
    set(source "${RIDGEBENCH_MIRROR}/${${name}_archive}")
    if(NOT source MATCHES "^[a-z]+://")
      get_filename_component(source "${source}" ABSOLUTE)
    endif()
  endif()
  if(source)
    obtain_archive("${source}" "${file}" ${${name}_sha256} said)
    if(NOT said)
      return()
    elseif(said MATCHES "SHA-256")
      set(${problem} " ${name} ${${name}_version}: ${said}: delete or replace it" PARENT_SCOPE)
      return()
    endif()
    list(APPEND tried "${said}")
  endif()
  if(online)
    foreach(address IN LISTS ${name}_addresses)
      obtain_archive("${address}" "${file}" ${${name}_sha256} said)
      if(NOT said)
        return()
      endif()
      string(REGEX REPLACE "^https://([^/]+)[^:]*" "\\1" said "${said}")  # the host alone
      list(APPEND tried "${said}")
      if(said MATCHES "Timeout")  # the network drops packets: each address would take as long
        break()
      endif()
    endforeach()
  else()
    list(APPEND tried "RIDGEBENCH_FETCH is OFF")
  endif()
  list(JOIN tried "; " tried)
  string(CONCAT advice "install it (Debian: ${${name}_package}), name a mirror with -DRIDGEBENCH_MIRROR=FOLDER-OR-URL, "
    "or build from the release tarball, which has its sources in third_party")
  set(${problem} " ${name} ${${name}_version} is needed and was not found (${tried}): ${advice}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  if(NOT FOLDER)
    get_filename_component(FOLDER "${CMAKE_CURRENT_LIST_DIR}/../third_party" ABSOLUTE)
  endif()
  foreach(library IN LISTS RIDGEBENCH_THIRD_PARTY)
    find_archive(${library} "" "${FOLDER}" TRUE problem)
    if(problem)
      message(FATAL_ERROR "${problem}")
    endif()
  endforeach()
endif()
