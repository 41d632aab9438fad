// What happens to an accumulator before it is stored, as a functor that a kernel takes: nothing, or
// bias and GeLU. And vector stores of neighbouring outputs.
#pragma once

#include <cstdint>

#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/gelu_error.hpp"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/cuda/vec16.cuh"

namespace ridgebench::cuda {

struct Plain {
  __device__ float operator()(float sum, std::int64_t /*column*/) const { return sum; }
};

// gelu(sum + bias[column]), with the form of tanh that the output's precision needs.
template <class Out>
struct BiasGelu {
  const Out* bias;

  __device__ float operator()(float sum, std::int64_t column) const {
    return gelu_approx<Out>(sum + to_float(bias[column]));
  }
};

// Neighbours of one row that one instruction stores.
template <class Out, int kCount>
struct alignas(kCount * sizeof(Out)) OutVector {
  Out element[kCount];
};

// Whether rows of n elements from `c` on fall into aligned vectors of `count`.
template <class Out>
bool can_store_vector(const Out* c, std::int64_t n, int count) {
  return n % count == 0 && reinterpret_cast<std::uintptr_t>(c) % kVectorBytes == 0;
}

// Applies the epilogue to sum[0..kCount) and stores the results at c[row, column...], up to column
// n.
template <int kCount, class Out, class Epilogue>
__device__ void store_accumulators(Out* c, std::int64_t n, std::int64_t row, std::int64_t column,
                                   const float* sum, const Epilogue& epilogue, bool vectorized) {
  if (vectorized) {
    if (column >= n) return;
    OutVector<Out, kCount> out;
#pragma unroll
    for (int j = 0; j < kCount; ++j) out.element[j] = from_float<Out>(epilogue(sum[j], column + j));
    *reinterpret_cast<OutVector<Out, kCount>*>(&c[row * n + column]) = out;
  } else {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (column + j < n) c[row * n + column + j] = from_float<Out>(epilogue(sum[j], column + j));
    }
  }
}

}  // namespace ridgebench::cuda
