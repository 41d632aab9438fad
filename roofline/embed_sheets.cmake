# Writes OUTPUT, a C++ file that holds every data sheet of DIRECTORY as a raw string.
# Usage: cmake -DDIRECTORY=<roofline/devices> -DOUTPUT=<file.cpp> -P embed_sheets.cmake
cmake_minimum_required(VERSION 3.25)
file(GLOB sheets "${DIRECTORY}/*.json")
list(SORT sheets)
set(entries "")
foreach(sheet IN LISTS sheets)
  get_filename_component(name "${sheet}" NAME)
  file(READ "${sheet}" text)
  string(APPEND entries "    EmbeddedSheet{\"${name}\", R\"sheet(${text})sheet\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from roofline/devices by roofline/embed_sheets.cmake.
#include \"roofline/embedded_sheets.hpp\"

#include <array>

namespace ridgebench {
namespace {

constexpr auto kSheets = std::to_array<EmbeddedSheet>({
${entries}});

}  // namespace

std::span<const EmbeddedSheet> embedded_sheets() { return kSheets; }

}  // namespace ridgebench
")
