// One stage of an operand in shared memory for mma.sync: 64 bytes, two steps of the instruction, of
// each of 128 vectors, copied as they lie in memory in packs of 16 bytes. A line is what is
// contiguous in memory: 64 bytes along k of one vector, or one k of all vectors. Packs change place
// within a line (are swizzled) so that eight rows of an ldmatrix never meet in a bank.
#pragma once

#include <cstdint>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/shared_memory.cuh"
#include "kernels/common/cuda/vec16.cuh"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda {

inline constexpr int kStageVectors = 128;
inline constexpr int kStageBytes = 64;  // of each vector
inline constexpr int kStageSteps = 2;
inline constexpr int kStageThreads = 256;
inline constexpr int kStagePacks = kStageVectors * kStageBytes / kVectorBytes;
using Stage = uint4[kStagePacks];

// Numbers of each vector.
template <class T>
inline constexpr int kStageDepth = kStageBytes / static_cast<int>(sizeof(T));

template <bool kKMajor, class T>
inline constexpr int kLinePacks =
    (kKMajor ? kStageBytes : kStageVectors * static_cast<int>(sizeof(T))) / kVectorBytes;

// Where pack `pack` of a line lies. Two lines along k share the 128 bytes of all banks, and eight
// lines are read at once; of the longer lines along the vectors eight are read at once by ldmatrix,
// four by the loads of 32-bit numbers, two packs of each.
template <bool kKMajor, class T>
__device__ int swizzled(int line, int pack) {
  const int by = kKMajor ? line / 2 % 4 : sizeof(T) == 2 ? line % 8 : line % 4 * 2;
  return line * kLinePacks<kKMajor, T> + (pack ^ by);
}

// Starts copying the numbers from p0 on of the vectors from `first` on (copy_vector_async). All
// kStageThreads threads take part.
template <bool kKMajor, class T>
__device__ void fill_stage(Stage& stage, const MatrixOperand<T>& x, std::int64_t first,
                           std::int64_t p0, bool aligned) {
#pragma unroll
  for (int i = 0; i < kStagePacks / kStageThreads; ++i) {
    const int id = static_cast<int>(threadIdx.x) + i * kStageThreads;
    const int line = id / kLinePacks<kKMajor, T>;
    const int pack = id % kLinePacks<kKMajor, T>;
    const std::int64_t from_line = (kKMajor ? first : p0) + line;
    const std::int64_t from = (kKMajor ? p0 : first) + pack * kVectorElements<T>;
    copy_vector_async<kKMajor>(&stage[swizzled<kKMajor, T>(line, pack)], x, from_line, from,
                               aligned);
  }
}

enum class Side : std::uint8_t { a, b };

// Which half of the 16 vectors, and which half of the step's 32 bytes, word r of a fragment is of:
// a piece of A in the order of mma.cuh; of B two pieces of 8 vectors, one after the other.
template <Side kSide>
__device__ constexpr int vector_half(int r) {
  return kSide == Side::a ? r % 2 : r / 2;
}
template <Side kSide>
__device__ constexpr int byte_half(int r) {
  return kSide == Side::a ? r / 2 : r % 2;
}

// The fragment of the 16 vectors from `first` on in one step. Every lane of the warp must call it.
template <Side kSide, bool kKMajor, class T>
__device__ void load_fragment(std::uint32_t (&word)[4], const Stage& stage, int first, int step) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if constexpr (kKMajor) {
    const int vector = first + 8 * vector_half<kSide>(lane / 8) + lane % 8;
    const int pack = 2 * step + byte_half<kSide>(lane / 8);
    ldmatrix_x4<false>(word, &stage[swizzled<kKMajor, T>(vector, pack)]);
  } else if constexpr (sizeof(T) == 2) {
    const int p = 16 * step + 8 * byte_half<kSide>(lane / 8) + lane % 8;
    const int pack = first / 8 + vector_half<kSide>(lane / 8);
    ldmatrix_x4<true>(word, &stage[swizzled<kKMajor, T>(p, pack)]);
  } else {
    static_assert(sizeof(T) == 4);  // ldmatrix transposes 16-bit numbers only
    const auto* const words = reinterpret_cast<const std::uint32_t*>(stage);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int vector = first + 8 * vector_half<kSide>(r) + lane / 4;
      const int p = 8 * step + 4 * byte_half<kSide>(r) + lane % 4;
      word[r] = words[swizzled<kKMajor, T>(p, vector / 4) * 4 + vector % 4];
    }
  }
}

}  // namespace ridgebench::cuda
