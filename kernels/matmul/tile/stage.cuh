// One stage of an operand in shared memory for mma.sync: 64 bytes of k, two steps of the
// instruction, of 128 rows, copied in vectors of 16 bytes as they lie in memory. A line is what is
// contiguous in memory: the 64 bytes of one row (K-major), or all rows at one k (MN-major). The
// vectors of a line are swizzled so that the eight rows of an ldmatrix never meet in a bank.
#pragma once

#include <cstdint>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/shared_memory.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/matmul/tile/operands.cuh"
#include "kernels/matmul/tile/tile_copies.cuh"

namespace ridgebench::cuda {

inline constexpr int kStageRows = 128;
inline constexpr int kStageBytes = 64;  // of each row
inline constexpr int kStageSteps = 2;
inline constexpr int kStageThreads = 256;
inline constexpr int kStageVectors = kStageRows * kStageBytes / kVectorBytes;
using Stage = uint4[kStageVectors];

// Elements of each row.
template <class T>
inline constexpr int kStageK = kStageBytes / static_cast<int>(sizeof(T));

template <bool kKMajor, class T>
inline constexpr int kLineVectors =
    (kKMajor ? kStageBytes : kStageRows * static_cast<int>(sizeof(T))) / kVectorBytes;

// Index of vector `vector` of a line. K-major, two lines share the 128 bytes of all banks, and
// ldmatrix reads eight lines at once. MN-major, ldmatrix reads eight of the longer lines at once,
// and the loads of 32-bit elements read four, two vectors of each.
template <bool kKMajor, class T>
__device__ int swizzled(int line, int vector) {
  const int by = kKMajor ? line / 2 % 4 : sizeof(T) == 2 ? line % 8 : line % 4 * 2;
  return line * kLineVectors<kKMajor, T> + (vector ^ by);
}

// Copies of the calling thread for each stage, and the place of its first vector in a stage.
template <bool kKMajor, class T>
using StageCopies = TileCopies<kKMajor, T, kStageThreads, kStageVectors / kStageThreads,
                               kLineVectors<kKMajor, T>, kKMajor ? kStageRows : kStageK<T>>;
template <bool kKMajor, class T>
__device__ int first_vector() {
  constexpr int line_vectors = kLineVectors<kKMajor, T>;
  const int thread = static_cast<int>(threadIdx.x);
  return swizzled<kKMajor, T>(thread / line_vectors, thread % line_vectors) * kVectorBytes;
}

enum class Side : std::uint8_t { a, b };

// The half of the 16 rows, and the half of the step's 32 bytes, that word r of a fragment holds:
// for A in the order of mma.cuh, for B two fragments of 8 rows one after the other.
template <Side kSide>
__device__ constexpr int row_half(int r) {
  return kSide == Side::a ? r % 2 : r / 2;
}
template <Side kSide>
__device__ constexpr int byte_half(int r) {
  return kSide == Side::a ? r / 2 : r % 2;
}

// The fragment of the 16 rows from `first_row` on in one step. Every lane of the warp must call it.
template <Side kSide, bool kKMajor, class T>
__device__ void load_fragment(std::uint32_t (&word)[4], const Stage& stage, int first_row,
                              int step) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if constexpr (kKMajor) {
    const int row = first_row + 8 * row_half<kSide>(lane / 8) + lane % 8;
    const int vector = 2 * step + byte_half<kSide>(lane / 8);
    ldmatrix_x4<false>(word, &stage[swizzled<kKMajor, T>(row, vector)]);
  } else if constexpr (sizeof(T) == 2) {
    const int k = 16 * step + 8 * byte_half<kSide>(lane / 8) + lane % 8;
    const int vector = first_row / 8 + row_half<kSide>(lane / 8);
    ldmatrix_x4<true>(word, &stage[swizzled<kKMajor, T>(k, vector)]);
  } else {
    static_assert(sizeof(T) == 4);  // ldmatrix transposes 16-bit elements only
    const auto* const words = reinterpret_cast<const std::uint32_t*>(stage);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = first_row + 8 * row_half<kSide>(r) + lane / 4;
      const int k = 8 * step + 4 * byte_half<kSide>(r) + lane % 4;
      word[r] = words[swizzled<kKMajor, T>(k, row / 4) * 4 + row % 4];
    }
  }
}

}  // namespace ridgebench::cuda
