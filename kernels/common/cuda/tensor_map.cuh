// Tensor maps: how TMA finds the boxes of a matrix. They are made by the driver, whose function is
// asked for at run time, so that nothing links to libcuda.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "kernels/common/cuda/check.cuh"
#include "kernels/common/error.hpp"
#include "kernels/common/format.hpp"

namespace ridgebench::cuda {

enum class Swizzle : std::uint8_t { none, bytes_128 };

namespace tensor_map_detail {

inline PFN_cuTensorMapEncodeTiled_v12000 encoder() {
  constexpr unsigned version = 12000;  // of the driver interface that first had it
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, version,
                                         cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) throw Unsupported("the driver has no tensor maps");
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

// Formats of 8 bits go as bytes: TMA only moves them. So does tf32 as fp32, rounded long before.
template <class T>
constexpr CUtensorMapDataType kType = std::is_same_v<T, Fp16>   ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                      : std::is_same_v<T, Bf16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                      : sizeof(T) == 4          ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                                                : CU_TENSOR_MAP_DATA_TYPE_UINT8;

}  // namespace tensor_map_detail

// A row-major matrix of rows x row_length elements in boxes of box_rows x box_length. Throws
// Unsupported where TMA cannot take it: rows must be multiples of 16 bytes, and coordinates are
// 32-bit integers. Source of the limits: CUDA driver API, cuTensorMapEncodeTiled.
template <class T>
CUtensorMap tensor_map(const T* matrix, std::int64_t rows, std::int64_t row_length, int box_rows,
                       int box_length, Swizzle swizzle) {
  constexpr std::int64_t most = 0x7fffffff;
  const auto pitch = static_cast<std::uint64_t>(row_length) * sizeof(T);
  if (pitch % 16 != 0) {
    throw Unsupported("TMA takes rows of multiples of 16 bytes, not of " + std::to_string(pitch));
  }
  if (reinterpret_cast<std::uintptr_t>(matrix) % 16 != 0) {
    throw Unsupported("an operand is not aligned to 16 bytes");
  }
  if (rows > most || row_length > most) throw Unsupported("TMA takes up to 2^31 - 1 rows");
  CUtensorMap map{};
  const std::array<cuuint64_t, 2> size{static_cast<cuuint64_t>(row_length),
                                       static_cast<cuuint64_t>(rows)};
  const std::array<cuuint64_t, 1> pitches{pitch};
  const std::array<cuuint32_t, 2> box{static_cast<cuuint32_t>(box_length),
                                      static_cast<cuuint32_t>(box_rows)};
  constexpr std::array<cuuint32_t, 2> dense{1, 1};
  const CUresult result = tensor_map_detail::encoder()(
      &map, tensor_map_detail::kType<T>, 2, const_cast<T*>(matrix), size.data(), pitches.data(),
      box.data(), dense.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
      swizzle == Swizzle::none ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw std::runtime_error("cuTensorMapEncodeTiled: error " + std::to_string(result));
  }
  return map;
}

}  // namespace ridgebench::cuda
