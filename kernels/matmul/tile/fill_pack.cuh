// Copies of 16 bytes from an operand to a stage in shared memory, by the threads themselves.
#pragma once

#include <cstdint>

#include "kernels/common/cuda/pack.cuh"
#include "kernels/common/cuda/ptx/cp_async.cuh"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda {

// Starts copying the numbers from `from` on of a line of the operand, zeros beyond its edges. A
// line is what is contiguous in memory: one vector, or one k of all vectors. Unless the operand is
// aligned to packs the numbers go one by one.
template <bool kAlongK, class T>
__device__ void fill_pack(void* target, const Vectors<T>& x, std::int64_t line, std::int64_t from,
                          bool aligned) {
  const std::int64_t lines = kAlongK ? x.count : x.length;
  const std::int64_t line_length = kAlongK ? x.length : x.count;
  const bool inside = line < lines && from < line_length;
  const T* const source = inside ? &x.data[line * line_length + from] : x.data;
  if (aligned) {
    cp_async_zfill(target, source, inside);
  } else {
    T* const numbers = static_cast<T*>(target);
#pragma unroll 1
    for (int e = 0; e < kPackElements<T>; ++e) {
      numbers[e] = inside && from + e < line_length ? source[e] : T{};
    }
  }
}

}  // namespace ridgebench::cuda
