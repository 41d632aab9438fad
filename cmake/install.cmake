# cmake --install: the program, the headers and the library for kernels outside the tree, the CMake package, and the
# Python package with the schemas. Nothing that is installed names a folder of this machine: the tree can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Everything of the program in one archive, main included, for a program of one's own.
add_library(ridgebench_static STATIC harness/cli/main.cpp $<TARGET_OBJECTS:ridgebench_common>
  $<TARGET_OBJECTS:ridgebench_roofline> $<TARGET_OBJECTS:ridgebench_harness> $<TARGET_OBJECTS:ridgebench_adapters>)
target_link_libraries(ridgebench_static PRIVATE ridgebench_options ridgebench_kernels CLI11::CLI11)
foreach(library fmt benchmark re2)
  if(library IN_LIST RIDGEBENCH_BUILT_LIBRARIES)
    target_sources(ridgebench_static PRIVATE $<TARGET_OBJECTS:${library}>)
  endif()
endforeach()
set_target_properties(ridgebench_static PROPERTIES OUTPUT_NAME ridgebench UNITY_BUILD OFF)

set(ridgebench_package "${CMAKE_INSTALL_LIBDIR}/cmake/ridgebench")
set(ridgebench_headers "${CMAKE_INSTALL_INCLUDEDIR}/ridgebench")
set(ridgebench_data "${CMAKE_INSTALL_DATADIR}/ridgebench")

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME ridgebench)
install(TARGETS ridgebench RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS ridgebench_c LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")  # the Python package finds it there
install(TARGETS ridgebench_static ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT archive)  # not in a wheel
install_openmp()
install(DIRECTORY kernels/common DESTINATION "${ridgebench_headers}/kernels" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(FILES kernels/common/interface/kernel.hpp harness/c/ridgebench.h DESTINATION "${ridgebench_headers}")
# As in a checkout, so that the package finds its schemas and its data sheets. A wheel has the package beside this tree.
install(DIRECTORY roofline/ridgebench DESTINATION "${ridgebench_data}/roofline" COMPONENT python PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY roofline/devices DESTINATION "${ridgebench_data}/roofline")
install(DIRECTORY results/schema DESTINATION "${ridgebench_data}/results")
install(DIRECTORY skills DESTINATION "${ridgebench_data}")  # docs/agents.md
install(FILES LICENSE DESTINATION "${ridgebench_data}")
install(FILES "${CMAKE_BINARY_DIR}/playground/playground.js" "${CMAKE_BINARY_DIR}/playground/playground.wasm"
  DESTINATION "${ridgebench_data}/playground" OPTIONAL)  # where the target `playground` was built
foreach(library fmt nlohmann_json CLI11 benchmark re2)  # their licenses ask that a binary brings them
  if(library IN_LIST RIDGEBENCH_BUILT_LIBRARIES)
    describe_third_party(${library})
    set(folder "${CMAKE_BINARY_DIR}/third_party/${library}-${${library}_version}")
    file(GLOB license "${folder}/LICENSE" "${folder}/LICENSE.*")
    install(FILES ${license} DESTINATION "${ridgebench_data}/licenses/${library}")
  endif()
endforeach()

# The completions of shells. The program prints them: one for another machine cannot run here.
function(install_page words file folder)
  set(page "${CMAKE_BINARY_DIR}/pages/${file}")
  file(GLOB_RECURSE python CONFIGURE_DEPENDS roofline/ridgebench/*.py)  # the program asks them for their options
  add_custom_command(OUTPUT "${page}" COMMAND ridgebench ${words} > "${page}" DEPENDS ridgebench ${python} VERBATIM)
  set_property(TARGET ridgebench_pages APPEND PROPERTY SOURCES "${page}")
  install(FILES "${page}" DESTINATION "${folder}" COMPONENT pages)  # not in a wheel, where no shell looks for them
endfunction()
if(NOT CMAKE_CROSSCOMPILING)
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/pages")
  add_custom_target(ridgebench_pages ALL)
  install_page("completion;bash" ridgebench "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install_page("completion;zsh" _ridgebench "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
endif()

set(config "${CMAKE_BINARY_DIR}/generated/ridgebenchConfig.cmake")
set(version "${CMAKE_BINARY_DIR}/generated/ridgebenchConfigVersion.cmake")
configure_package_config_file(cmake/ridgebenchConfig.cmake.in "${config}" INSTALL_DESTINATION "${ridgebench_package}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file("${version}" COMPATIBILITY SameMinorVersion)
install(FILES "${config}" "${version}" cmake/ridgebench_add_kernels.cmake DESTINATION "${ridgebench_package}")
