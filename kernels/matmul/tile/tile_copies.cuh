// Copies of an operand's tiles to shared memory by cp.async, one tile of a stage after the other
// along k. From stage to stage only the position along k changes, so that a thread calculates its
// addresses once and then takes a comparison, a selection and an addition for each copy.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/common/cuda/ptx/shared_memory.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda {

// Copies of one of kThreads threads. A line is contiguous in memory: kLineVectors vectors of
// 16 bytes, with k of one row (K-major) or rows at one k (MN-major). A tile is boxes side by side
// of kLines lines each, as they lie in memory. Thread t copies the vectors t, kThreads + t, ... of
// the tile, which are kCopies.
template <bool kKMajor, class T, int kThreads, int kCopies, int kLineVectors, int kLines>
class TileCopies {
 public:
  // The tile of the first stage starts at row `mn` and at k = 0. `swizzled` is the offset in bytes
  // of the thread's first vector in shared memory; the others follow at equal distances, so that
  // the swizzle must repeat after kLinesApart lines.
  __device__ TileCopies(const MatrixOperand<T>& x, std::int64_t mn, int swizzled)
      : line_length_(kKMajor ? x.stride_mn : x.stride_k), offset_(swizzled) {
    const int thread = static_cast<int>(threadIdx.x);
    const int line = thread / kLineVectors;
    const int element = thread % kLineVectors * kVectorElements<T>;
    mn_left_ = x.mn - mn - (kKMajor ? line : element);
    k_left_ = x.k - (kKMajor ? element : line);
    source_ = x.data + ((kKMajor ? mn : 0) + line) * line_length_ + (kKMajor ? 0 : mn) + element;
  }

  // Starts to copy the tile of the next stage, kStep further along k, and closes no group. What
  // lies beyond the operand's edges becomes zeros: such a copy reads nothing, whatever its address.
  // Unless the operand is aligned, the elements are copied one by one.
  template <int kStep>
  __device__ void start(void* tile, bool aligned) {
    std::byte* const shared = static_cast<std::byte*>(tile) + offset_;
    const int lines = within(kKMajor ? mn_left_ : k_left_);
    const int elements = within(kKMajor ? k_left_ : mn_left_);
    if (aligned) {
#pragma unroll
      for (int i = 0; i < kCopies; ++i) {
        const bool inside = line_of(i) < lines && element_of(i) < elements;
        cp_async_zfill(shared + i * kBytesApart, source_of(i), inside);
      }
    } else {
#pragma unroll 1
      for (int i = 0; i < kCopies; ++i) {
        const int count = line_of(i) < lines ? elements - element_of(i) : 0;
        copy_elements(reinterpret_cast<T*>(shared + i * kBytesApart), source_of(i), count);
      }
    }
    k_left_ -= kStep;
    source_ += kKMajor ? kStep : kStep * line_length_;
  }

 private:
  static constexpr int kBytesApart = kThreads * kVectorBytes;
  static constexpr int kLinesApart = kThreads / kLineVectors;
  static constexpr int kFarthest = 1 << 20;  // beyond any tile

  static __device__ int within(std::int64_t left) {
    return static_cast<int>(std::min(left, std::int64_t{kFarthest}));
  }
  // The line of copy i, counted from the first.
  static __device__ constexpr int line_of(int i) { return i * kLinesApart % kLines; }
  static __device__ constexpr int element_of(int i) {
    return i * kLinesApart / kLines * kLineVectors * kVectorElements<T>;
  }
  __device__ const T* source_of(int i) const {
    return source_ + line_of(i) * line_length_ + element_of(i);
  }

  // Zeros follow the first `count` elements.
  static __device__ void copy_elements(T* shared, const T* source, int count) {
#pragma unroll 1
    for (int e = 0; e < kVectorElements<T>; ++e) shared[e] = e < count ? source[e] : T{};
  }

  const T* source_;
  std::int64_t line_length_;       // elements
  std::int64_t mn_left_, k_left_;  // from the thread's first vector on to the operand's edges
  int offset_;
};

}  // namespace ridgebench::cuda
