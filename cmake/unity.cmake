# Compiles the sources of a target that lie in one folder as one file: most of the work is reading their headers. The
# regular expression matches such folders below the root; a source elsewhere is compiled alone. Names that are local to a
# file must differ between the files of such a folder, so that a new file elsewhere changes nothing.
function(unity_by_folder target root folders)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    string(REPLACE "${root}/" "" path "${source}")  # the root may have characters of a regular expression, as in c++
    if(path MATCHES "^(${folders})/")
      string(REPLACE "/" "_" group "${CMAKE_MATCH_1}")
      set_property(SOURCE "${source}" PROPERTY UNITY_GROUP "${group}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# The same for CUDA files, which CMake joins from 3.31 on: takes those that match the regular expression out of the list
# and adds one file that includes them.
function(unify_cuda list name pattern)
  set(alone ${${list}})
  set(together ${${list}})
  list(FILTER together INCLUDE REGEX "${pattern}")
  if(RIDGEBENCH_UNITY AND together)
    list(REMOVE_ITEM alone ${together})
    list(TRANSFORM together REPLACE "(.+)" "#include \"\\1\"")
    list(JOIN together "\n" includes)
    set(file "${CMAKE_BINARY_DIR}/generated/unity/${name}.cu")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${includes}\n")
    set(${list} ${alone} "${file}" PARENT_SCOPE)
  endif()
endfunction()
