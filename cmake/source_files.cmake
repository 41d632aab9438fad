# set_source_files_properties(FILES... PROPERTIES...) for files that must exist: CMake ignores the properties of a name that no
# file has, as after a move.
function(set_properties_of_files)
  cmake_parse_arguments(PARSE_ARGV 0 of "" "" "FILES;PROPERTIES")
  foreach(file IN LISTS of_FILES)
    if(NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR} has no file '${file}', for which CMake sets properties")
    endif()
  endforeach()
  set_source_files_properties(${of_FILES} PROPERTIES ${of_PROPERTIES})
endfunction()
