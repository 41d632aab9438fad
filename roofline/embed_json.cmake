# Writes OUTPUT, a C++ file with a function that returns the JSON files NAMES of DIRECTORY as raw strings.
# Usage: cmake -DDIRECTORY=<roofline/devices> -DNAMES=*.json -DFUNCTION=embedded_sheets -DOUTPUT=<file.cpp> -P embed_json.cmake
cmake_minimum_required(VERSION 3.22)
file(GLOB files "${DIRECTORY}/${NAMES}")
list(SORT files)
set(entries "")
foreach(path IN LISTS files)
  get_filename_component(name "${path}" NAME_WLE)
  file(READ "${path}" text)
  string(APPEND entries "    EmbeddedJson{\"${name}\", R\"json(${text})json\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from ${DIRECTORY} by roofline/embed_json.cmake.
#include \"roofline/embedded_json.hpp\"

#include <array>

namespace ridgebench {

std::span<const EmbeddedJson> ${FUNCTION}() {
  static constexpr auto files = std::to_array<EmbeddedJson>({
${entries}});
  return files;
}

}  // namespace ridgebench
")
