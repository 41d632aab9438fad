# Cross-compiles the host half for 64-bit ARM with the compiler of Debian and Ubuntu (g++-aarch64-linux-gnu), or with clang
# where CMAKE_CXX_COMPILER names it: cmake --toolchain cmake/toolchains/aarch64-linux-gnu.cmake -DRIDGEBENCH_CUDA=OFF ...
# scripts/try/aarch64.sh lists the packages. Tests run under qemu's user emulation where it is installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
if(NOT CMAKE_CXX_COMPILER)
  set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
endif()
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)  # for clang; g++ has one target

find_program(RIDGEBENCH_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(RIDGEBENCH_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${RIDGEBENCH_QEMU}")
  if(CMAKE_SYSROOT)
    list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -L "${CMAKE_SYSROOT}")
  endif()
endif()
