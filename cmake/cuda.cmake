# The CUDA half: kernels/**/*.cu and harness/device/cuda. RIDGEBENCH_CUDA is ON, OFF, or AUTO: where nvcc is found. A
# toolkit that is found but cannot be used stops the configuration: only OFF leaves the CUDA half out.
include(cuda_architectures)
include(cuda_toolkit)
set(RIDGEBENCH_CUDA AUTO CACHE STRING "Build the CUDA half: ON, OFF or AUTO (where nvcc is found)")
option(RIDGEBENCH_HOPPER "Build the kernels that only Hopper (compute capability 9.0a) can run" ON)

set(RIDGEBENCH_HAS_CUDA OFF)
if(NOT RIDGEBENCH_CUDA STREQUAL "OFF")
  if(CMAKE_CUDA_COMPILER)
    set(RIDGEBENCH_NVCC "${CMAKE_CUDA_COMPILER}")
  elseif(NOT RIDGEBENCH_NVCC AND NOT "$ENV{CUDACXX}" STREQUAL "")
    find_program(RIDGEBENCH_NVCC NAMES "$ENV{CUDACXX}")
  endif()
  # In the PATH, then in these folders, as scripts/tools.sh does.
  find_program(RIDGEBENCH_NVCC NAMES nvcc PATHS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin NO_CMAKE_SYSTEM_PATH)
  if(RIDGEBENCH_NVCC)
    set(RIDGEBENCH_HAS_CUDA ON)
  elseif(RIDGEBENCH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "RIDGEBENCH_CUDA is ON, but nvcc was not found: put it on the PATH, or set RIDGEBENCH_CUDA=OFF")
  endif()
endif()
if(NOT RIDGEBENCH_HAS_CUDA)
  return()
endif()

if(NOT CMAKE_CUDA_HOST_COMPILER)
  set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}")
  if(NOT "$ENV{CUDAHOSTCXX}" STREQUAL "")
    set(CMAKE_CUDA_HOST_COMPILER "$ENV{CUDAHOSTCXX}")
  endif()
endif()
if(NOT RIDGEBENCH_USABLE_NVCC STREQUAL "${RIDGEBENCH_NVCC} ${CMAKE_CUDA_HOST_COMPILER}")
  require_usable_nvcc("${RIDGEBENCH_NVCC}" "${CMAKE_CUDA_HOST_COMPILER}")
  set(RIDGEBENCH_USABLE_NVCC "${RIDGEBENCH_NVCC} ${CMAKE_CUDA_HOST_COMPILER}" CACHE INTERNAL "What the check was made for")
endif()
set(CMAKE_CUDA_COMPILER "${RIDGEBENCH_NVCC}")
choose_cuda_architectures("${RIDGEBENCH_NVCC}" CMAKE_CUDA_ARCHITECTURES)
# nvcc compiles device code with -O3 unless it is given a level. The host's part of a CUDA file only launches kernels.
set(CMAKE_CUDA_FLAGS_RELEASE "-DNDEBUG -Xcompiler=-O1" CACHE STRING "Flags of nvcc in release builds")
enable_language(CUDA)
find_package(CUDAToolkit ${RIDGEBENCH_OLDEST_CUDA} REQUIRED)
has_hopper("${CMAKE_CUDA_ARCHITECTURES}" "${CMAKE_CUDA_ARCHITECTURES_NATIVE}" RIDGEBENCH_HOPPER_CHOSEN)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
# CMake 3.25 does not know that this nvcc supports C++20, and drops the standard silently.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()
# The launcher writes the messages of ptxas for each file next to its object; a test reads them.
set(CMAKE_CUDA_COMPILER_LAUNCHER "${CMAKE_SOURCE_DIR}/cmake/ptxas_log.sh" ${CMAKE_CUDA_COMPILER_LAUNCHER})

# Options of every CUDA file. Warning 445 is about lambdas with a template parameter that no parameter deduces,
# as registrations have.
cubin_compression("${CMAKE_CUDA_COMPILER_VERSION}" "${RIDGEBENCH_TESTS}" cubin_compression)
add_library(ridgebench_cuda INTERFACE)
target_compile_options(ridgebench_cuda INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr $<$<BOOL:${RIDGEBENCH_LINES}>:-lineinfo> --diag-suppress=445
                       -Xptxas=-v --threads=2 ${cubin_compression} -Xcompiler=-Wall,-Wextra,-fopenmp
                       $<$<BOOL:${RIDGEBENCH_WERROR}>:--Werror=all-warnings>>)
target_link_libraries(ridgebench_cuda INTERFACE CUDA::cudart_static ${CMAKE_DL_LIBS})
# A program loads cuBLAS when it first calls it. Without the toolkit's own headers the rows are skipped: those of another
# toolkit, which the compiler may find, do not fit.
target_include_directories(ridgebench_cuda SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
find_path(CUBLAS_INCLUDE cublasLt.h PATHS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
if(NOT CUBLAS_INCLUDE)
  target_compile_definitions(ridgebench_cuda INTERFACE RIDGEBENCH_NO_CUBLAS)
endif()

# A technique is one .cu in an operation's folder, or one cublas*.cpp, and the globs find it. The folder tile holds
# what techniques share. Files in a folder named hopper are compiled for compute capability 9.0a and nothing else, where
# 9.0 is among the chosen ones. The kernels link as object libraries, because a static library would drop the registrations.
function(add_cuda_kernels target)
  set(CMAKE_UNITY_BUILD OFF)  # of C++
  file(GLOB portable CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/kernels/*/*.cu"
    "${CMAKE_SOURCE_DIR}/kernels/*/sweep/*.cu" "${CMAKE_SOURCE_DIR}/kernels/*/tile/*.cu" "${CMAKE_SOURCE_DIR}/kernels/*/cublas*.cpp")
  file(GLOB hopper CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/kernels/*/hopper/*.cu")
  # Files that take longer to read than to compile. The groups are small enough that a changed line waits 20 s on two processors.
  unify_cuda(portable elementwise "/kernels/(relu|gelu)/[a-z0-9_]+[.]cu$")
  unify_cuda(portable step "/kernels/(add|swiglu|zero|transpose_copy|optimizer)/[a-z0-9_]+[.]cu$")
  unify_cuda(portable backward "/kernels/[a-z]+_backward/[a-z0-9_]+[.]cu$")
  unify_cuda(portable dot "/kernels/dot/[a-z0-9_]+[.]cu$")
  unify_cuda(portable matvec "/kernels/matvec/[a-z0-9_]+[.]cu$")
  unify_cuda(portable rows "/kernels/((softmax|rmsnorm|rope|cross_entropy)/[a-z0-9_]+|attention_decode/naive)[.]cu$")
  unify_cuda(portable tensor_ceilings "/kernels/ceilings/(sweep/)?[a-z0-9_]+_mma_sync[.]cu$")
  unify_cuda(portable ceilings "/kernels/ceilings/")
  unify_cuda(portable matmul "/kernels/matmul/(naive|coalesced|shared_tile|cublas_unfused|tile/tuning)[.]cu$")
  unify_cuda(portable transfers "/kernels/(transfer|latency)/")
  unify_cuda(hopper wgmma "/(wgmma|wgmma_tma|wgmma_split_k)[.]cu$")
  unify_cuda(hopper hopper_ceilings "/(int8_wgmma|sparse_wgmma|tensor_wgmma|other_block)[.]cu$")
  set(parts cuda)
  add_library(${target}_cuda OBJECT ${portable})
  if(hopper AND RIDGEBENCH_HOPPER AND RIDGEBENCH_HOPPER_CHOSEN)
    list(APPEND parts hopper)
    add_library(${target}_hopper OBJECT ${hopper})
    set_target_properties(${target}_hopper PROPERTIES CUDA_ARCHITECTURES 90a-real)
  endif()
  foreach(part IN LISTS parts)
    target_link_libraries(${target}_${part} PRIVATE ridgebench_common ridgebench_cuda)
    target_sources(${target} INTERFACE $<TARGET_OBJECTS:${target}_${part}>)
  endforeach()
  target_link_libraries(${target} INTERFACE ridgebench_cuda)
endfunction()
