# cpack -G TGZ and -G DEB: ridgebench-<version>-linux-<architecture>-<cu13 or cpu>.
set(half cpu)
if(RIDGEBENCH_HAS_CUDA)
  set(half "cu${CUDAToolkit_VERSION_MAJOR}")
endif()
string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
set(CPACK_PACKAGE_FILE_NAME "ridgebench-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR}-${half}")
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_VENDOR "The ridgebench authors")
set(CPACK_PACKAGE_CONTACT "The ridgebench authors")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_SOURCE_DIR}/LICENSE")
set(CPACK_THREADS 0)

# Measuring needs no Python; drawing and judging do. The yardsticks of a host are optional.
set(CPACK_DEBIAN_FILE_NAME "${CPACK_PACKAGE_FILE_NAME}.deb")
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
if(RIDGEBENCH_RELEASE)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.34), libgcc-s1")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # the packages of the system that built it
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3 (>= 3.9), python3-numpy, python3-scipy, python3-matplotlib, python3-fastjsonschema, fonts-noto-cjk")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libopenblas0-openmp, libdnnl2 | libdnnl3.6")
include(CPack)
