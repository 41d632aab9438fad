// TMA, the copy engine of compute capability 9.0. One thread starts the copy of a box of a matrix,
// and the engine computes all addresses. A load fills elements outside the matrix with zeros, and
// signals the bytes of the whole box to an mbarrier; a store drops elements outside. A tensor map
// describes matrix and box; `column` (along the contiguous dimension) and `row` are the coordinates
// of the box's first element. Source: PTX ISA, "cp.async.bulk.tensor".
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/barrier.cuh"
#include "kernels/common/format.hpp"

namespace ridgebench::cuda {

// A kernel's parameter of this type must be `const __grid_constant__`.
using TensorMap = CUtensorMap;

__device__ inline void prefetch_tensormap(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Starts to load a box; the bytes count towards the current phase of `full`.
__device__ inline void tma_load_2d(void* shared, const TensorMap& map, int column, int row,
                                   Barrier& full) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(shared)),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(&full))
      : "memory");
}

// Loads the box into every block of the cluster whose bit is set in `mask`, at the same offset in
// its shared memory, and signals the barrier at the same offset in each.
__device__ inline void tma_load_2d_multicast(unsigned mask, void* shared, const TensorMap& map,
                                             int column, int row, Barrier& full) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(shared)),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(&full)),
      "h"(static_cast<std::uint16_t>(mask))
      : "memory");
}

// Starts to store a box. The same thread must commit the group and wait for it.
__device__ inline void tma_store_2d(const TensorMap& map, int column, int row, const void* shared) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
          &map),
      "r"(column), "r"(row), "r"(shared_address(shared))
      : "memory");
}

__device__ inline void cp_async_bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until at most the kPending newest groups of this thread still read shared memory.
template <int kPending>
__device__ void cp_async_bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Waits until all groups of this thread have completed.
__device__ inline void cp_async_bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

enum class Swizzle : std::uint8_t { none, bytes_128 };

namespace tensor_map_detail {

// The driver's function, looked up at run time so that the program does not link to libcuda.
inline PFN_cuTensorMapEncodeTiled_v12000 encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION < 12050
  check(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found));
#else
  constexpr unsigned version = 12000;  // of the first driver interface that has the function
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, version,
                                         cudaEnableDefault, &found));
#endif
  if (found != cudaDriverEntryPointSuccess) {
    throw std::runtime_error("the driver lacks cuTensorMapEncodeTiled: it is older than 12.0");
  }
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

// TMA only moves 8-bit formats, so they go as bytes. tf32 goes as fp32: it is rounded already.
template <class T>
constexpr CUtensorMapDataType kType = std::is_same_v<T, Fp16>   ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                      : std::is_same_v<T, Bf16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                      : sizeof(T) == 4          ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                                                : CU_TENSOR_MAP_DATA_TYPE_UINT8;

}  // namespace tensor_map_detail

// Limits of TMA: a row is a multiple of 16 bytes, and coordinates are 32-bit integers. Source: CUDA
// driver API, cuTensorMapEncodeTiled.
inline constexpr std::int64_t kTmaRowAlignment = 16;
inline constexpr std::int64_t kTmaMaxRows = 0x7fffffff;

// Describes a row-major matrix of rows x row_length elements in boxes of box_rows x box_length. The
// matrix is aligned to 16 bytes. Throws std::runtime_error with the driver's error code where a
// limit of TMA is exceeded.
template <class T>
TensorMap tensor_map(const T* matrix, std::int64_t rows, std::int64_t row_length, int box_rows,
                     int box_length, Swizzle swizzle) {
  TensorMap map{};
  const std::array<cuuint64_t, 2> size{static_cast<cuuint64_t>(row_length),
                                       static_cast<cuuint64_t>(rows)};
  const std::array<cuuint64_t, 1> pitch{size[0] * sizeof(T)};
  const std::array<cuuint32_t, 2> box{static_cast<cuuint32_t>(box_length),
                                      static_cast<cuuint32_t>(box_rows)};
  constexpr std::array<cuuint32_t, 2> dense{1, 1};
  const CUresult result = tensor_map_detail::encoder()(
      &map, tensor_map_detail::kType<T>, 2, const_cast<T*>(matrix), size.data(), pitch.data(),
      box.data(), dense.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
      swizzle == Swizzle::none ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw std::runtime_error("cuTensorMapEncodeTiled: error " + std::to_string(result));
  }
  return map;
}

}  // namespace ridgebench::cuda
