# Writes the table of roofline/ridgebench/__main__.py as a C++ header, so that the binary's help knows the same commands.
set(table "${CMAKE_SOURCE_DIR}/roofline/ridgebench/__main__.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
file(READ "${table}" text)
string(REGEX MATCH "COMMANDS = {[^}]*}" text "${text}")
string(REGEX MATCHALL "\"[a-z-]+\": \\(\"[a-z_.]+\", \"[^\"]*\"\\)" lines "${text}")
set(entries "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^(\"[a-z-]+\"): \\(\"[a-z_.]+\", (\"[^\"]*\")\\)$" "    {\\1, \\2},\n" entry "${line}")
  string(APPEND entries "${entry}")
endforeach()
list(LENGTH lines count)
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/harness/python_command_table.hpp" @ONLY CONTENT [[
// Generated from roofline/ridgebench/__main__.py by harness/cli/python/command_table.cmake.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace ridgebench {

// Name, and what it does.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, @count@> kPythonCommands{{
@entries@}};

}  // namespace ridgebench
]])
