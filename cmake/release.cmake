# RIDGEBENCH_RELEASE=ON builds for other machines: any Linux with glibc 2.34. libstdc++, fmt, Google Benchmark and RE2 are
# linked statically. Two libraries stay shared. The installation has the OpenMP runtime, because OpenBLAS and oneDNN must
# use the same one: the threads of two would disturb each other. Every system has libgcc_s, and that of GCC 12 needs glibc
# 2.35 where it is linked statically.
include(GNUInstallDirs)
option(RIDGEBENCH_RELEASE "Build a program that starts on other machines too" OFF)
set(ridgebench_private "${CMAKE_INSTALL_LIBDIR}/ridgebench")  # holds the OpenMP runtime

# Where a binary searches libraries, in the build tree and installed: this folder, then folders of libraries that it was
# linked with outside the system's. CMake's run path of a build tree would end with a colon, to be replaced at installation.
# The loader takes the empty name behind a colon for the current folder.
function(set_run_path target folder)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${folder}" INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ON)
endfunction()

# For the program, whose libstdc++ the kernels that it loads use too, and for the library, which hides its own.
function(make_portable target)
  if(RIDGEBENCH_RELEASE)
    target_sources(${target} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/arc4random.cpp")
    target_link_options(${target} PRIVATE -static-libstdc++ -s)
  endif()
endfunction()

function(install_openmp)
  if(RIDGEBENCH_RELEASE)
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libgomp.so.1 OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE)
    file(REAL_PATH "${file}" file)
    install(FILES "${file}" DESTINATION "${ridgebench_private}" RENAME libgomp.so.1)
  endif()
endfunction()

if(RIDGEBENCH_RELEASE)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "RIDGEBENCH_RELEASE is ON, but the compiler is ${CMAKE_CXX_COMPILER_ID}; allowed: g++, whose OpenMP runtime OpenBLAS and oneDNN use")
  endif()
  # Installed packages have shared libraries, or static ones that libridgebench.so cannot contain, and no licenses to install.
  foreach(package fmt nlohmann_json CLI11 benchmark re2)
    set(CMAKE_DISABLE_FIND_PACKAGE_${package} ON)
  endforeach()
endif()
