// What happens to a sum before it is stored, as a functor that a kernel takes: nothing, or bias and
// GeLU. And the storing of neighbours with one instruction.
#pragma once

#include <cstdint>

#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/cuda/vec16.cuh"

namespace ridgebench::cuda {

struct Plain {
  __device__ float operator()(float sum, std::int64_t /*column*/) const { return sum; }
};

// gelu(sum + bias[column]), with the tanh that the output's precision asks for.
template <class Out>
struct BiasGelu {
  const Out* bias;

  __device__ float operator()(float sum, std::int64_t column) const {
    const float x = sum + to_float(bias[column]);
    return sizeof(Out) == 2 ? gelu_tanh_approx(x) : gelu_exp2(x);
  }
};

// Neighbours of one row that go out with one store.
template <class Out, int kCount>
struct alignas(kCount * sizeof(Out)) Neighbours {
  Out number[kCount];
};

// Whether rows of n elements from `c` on fall into aligned groups of `count`.
template <class Out>
bool can_store_vector(const Out* c, std::int64_t n, int count) {
  return n % count == 0 && reinterpret_cast<std::uintptr_t>(c) % kVectorBytes == 0;
}

// Finishes and stores sum[0..kCount) at c[row, column...]; what lies beyond column n is dropped.
template <int kCount, class Out, class Epilogue>
__device__ void store_accumulators(Out* c, std::int64_t n, std::int64_t row, std::int64_t column,
                                   const float* sum, const Epilogue& finish, bool together) {
  if (together) {
    if (column >= n) return;
    Neighbours<Out, kCount> out;
#pragma unroll
    for (int j = 0; j < kCount; ++j) out.number[j] = from_float<Out>(finish(sum[j], column + j));
    *reinterpret_cast<Neighbours<Out, kCount>*>(&c[row * n + column]) = out;
  } else {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (column + j < n) c[row * n + column + j] = from_float<Out>(finish(sum[j], column + j));
    }
  }
}

}  // namespace ridgebench::cuda
