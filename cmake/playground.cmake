# The target `playground` builds the model of `ridgebench playground` by Emscripten: harness/web in the folder playground beside
# the program. Nothing else needs it, so that only `scripts/build.sh --target playground` builds it.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(ridgebench_includes "")
  foreach(library fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11)
    get_target_property(includes ${library} INTERFACE_INCLUDE_DIRECTORIES)
    list(APPEND ridgebench_includes ${includes})
  endforeach()
  string(REGEX REPLACE "\\$<BUILD_INTERFACE:([^>]*)>" "\\1" ridgebench_includes "${ridgebench_includes}")
  list(FILTER ridgebench_includes EXCLUDE REGEX "[$]<")
  add_custom_target(playground COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${CMAKE_SOURCE_DIR}/harness/web"
    "-DBINARY=${CMAKE_BINARY_DIR}/playground" "-DGENERATOR=${CMAKE_GENERATOR}" "-DINCLUDES=${ridgebench_includes}"
    -P "${CMAKE_CURRENT_LIST_FILE}" USES_TERMINAL VERBATIM)
  return()
endif()

find_program(emcmake emcmake)
if(NOT emcmake)
  message(FATAL_ERROR "emcmake is not installed: scripts/setup.sh --web installs Emscripten, which builds the playground")
endif()
set(ENV{NODE_PATH} "$ENV{NODE_PATH}:/usr/share/nodejs")  # Debian's Emscripten needs acorn, which a Node of others does not find
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND "${emcmake}" "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE}" -B "${BINARY}"
  "-DRIDGEBENCH_INCLUDES=${INCLUDES}")
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND "${CMAKE_COMMAND}" --build "${BINARY}" --parallel 2)
