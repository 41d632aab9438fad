// Rows of a matrix that the threads of one block divide: loads and stores of a thread's parts, and
// the maximum and the sum of exponentials of a row.
#pragma once

#include <cuda_runtime.h>

#include <cfloat>
#include <cstdint>
#include <type_traits>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda {

// Elements x[first, first + N) as fp32. N is 1, or a multiple of kVectorElements<T>, and then x +
// first is aligned to 16 bytes.
template <int N, class T>
__device__ void load_values(const T* x, std::int64_t first, float (&values)[N]) {
  if constexpr (N == 1) {
    values[0] = to_float(x[first]);
  } else {
    constexpr int each = kVectorElements<T>;
    static_assert(N % each == 0);
#pragma unroll
    for (int i = 0; i < N; i += each) {
      const Vec16<T> vector = load_vector(x, (first + i) / each);
#pragma unroll
      for (int pair = 0; pair < each / 2; ++pair) {
        const float2 both = to_float2(vector, pair);
        values[i + 2 * pair] = both.x;
        values[i + 2 * pair + 1] = both.y;
      }
    }
  }
}

// The reverse, rounded to T.
template <int N, class T>
__device__ void store_values(T* y, std::int64_t first, const float (&values)[N]) {
  if constexpr (N == 1) {
    y[first] = from_float<T>(values[0]);
  } else {
    constexpr int each = kVectorElements<T>;
    static_assert(N % each == 0);
#pragma unroll
    for (int i = 0; i < N; i += each) {
      Vec16<T> vector;
#pragma unroll
      for (int pair = 0; pair < each / 2; ++pair) {
        vector.pair[pair] =
            from_float2<T>(make_float2(values[i + 2 * pair], values[i + 2 * pair + 1]));
      }
      store_vector(y, (first + i) / each, vector);
    }
  }
}

// Calls use(width, first) for each part of a row of n elements that belongs to this thread of a
// block of kThreads: vectors of 16 bytes among the first `vectors` ones, then single elements. The
// type of `width` has the number of elements as its `value`.
template <int kThreads, class T, class Use>
__device__ void for_each_part(std::int64_t n, std::int64_t vectors, const Use& use) {
  constexpr int each = kVectorElements<T>;
  for (std::int64_t i = threadIdx.x; i < vectors; i += kThreads) {
    use(std::integral_constant<int, each>{}, i * each);
  }
  for (std::int64_t i = vectors * each + threadIdx.x; i < n; i += kThreads) {
    use(std::integral_constant<int, 1>{}, i);
  }
}

// Largest relative error of exp2f: 2 ulp. Source: CUDA C++ Programming Guide, "Mathematical
// Functions". The rounding of its argument is that of an exponent (softmax_reference.hpp).
inline constexpr double kExp2fError = 0x1p-22;

// e^x for x <= 0 by one MUFU.
__device__ inline float exp_by_exp2(float x) {
  constexpr float log2_e = 1.44269504F;
  return exp2f(x * log2_e);
}

// The largest of some numbers, and the sum of e^(x - max) over them.
struct MaxAndSum {
  float max = -FLT_MAX;
  float sum = 0;

  // Adds numbers. The sum so far shrinks when the maximum grows (Milakov and Gimelshein, arXiv
  // 1805.02867).
  template <int N>
  __device__ void add(const float (&x)[N]) {
    float largest = max;
#pragma unroll
    for (int i = 0; i < N; ++i) largest = fmaxf(largest, x[i]);
    sum *= exp_by_exp2(max - largest);
#pragma unroll
    for (int i = 0; i < N; ++i) sum += exp_by_exp2(x[i] - largest);
    max = largest;
  }
};

// Computes both for a row, in every thread of the block that divides it.
template <int kThreads, class T>
__device__ MaxAndSum max_and_sum(const T* row, std::int64_t n, std::int64_t vectors) {
  MaxAndSum own;
  for_each_part<kThreads, T>(n, vectors, [&](auto width, std::int64_t first) {
    float values[decltype(width)::value];
    load_values(row, first, values);
    own.add(values);
  });
  MaxAndSum all;
  all.max = block_all<kThreads>(own.max, Max{});
  all.sum = block_all<kThreads>(own.sum * exp_by_exp2(own.max - all.max), Sum{});
  return all;
}

// Calls use.operator()<threads>() with the threads of a block for a row of n elements: a warp,
// whose sums need no barrier, for short rows, else 256.
template <class Use>
auto with_row_threads(std::int64_t n, const Use& use) {
  constexpr std::int64_t short_row = 1024;
  if (n <= short_row) return use.template operator()<kWarp>();
  return use.template operator()<256>();
}

// Technique::supports of kernels that give each of m rows a block.
inline std::optional<std::string> supports_rows(const Machine&, const Shape& shape, FormatPair) {
  return grid_limit(shape["m"], 1);
}

}  // namespace ridgebench::cuda
