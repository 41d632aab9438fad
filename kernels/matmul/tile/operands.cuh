// The operands of C[M,N] = A B on the device in any layout, and the epilogue that finishes C. Row m
// of A and column n of B are both called a row here: C[m,n] is the dot product of row m of A and
// row n of B along k, and the layout decides which of the two strides of an operand is 1 (K-major
// or MN-major in CUTLASS's terms).
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/gelu_error.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench::cuda {

constexpr bool a_is_k_major(Layout layout) { return layout != Layout::tn; }
constexpr bool b_is_k_major(Layout layout) { return layout == Layout::nt; }

// A of M x K elements or B of N x K: element (row, k) is data[row * stride_mn + k * stride_k]. One
// stride is 1, the other is the leading dimension.
template <class T>
struct MatrixOperand {
  const T* data;
  std::int64_t mn;  // M or N
  std::int64_t k;
  std::int64_t stride_mn;
  std::int64_t stride_k;

  MatrixOperand(const T* elements, std::int64_t rows, std::int64_t depth, bool k_major)
      : data(elements),
        mn(rows),
        k(depth),
        stride_mn(k_major ? depth : 1),
        stride_k(k_major ? 1 : rows) {}

  __device__ T operator()(std::int64_t row, std::int64_t depth) const {
    return data[row * stride_mn + depth * stride_k];
  }

  [[nodiscard]] __host__ __device__ bool is_k_major() const { return stride_k == 1; }

  // True if every row of memory falls into aligned vectors of `elements` elements, and the first
  // one starts at a multiple of 16 bytes.
  [[nodiscard]] bool is_vectorizable(int elements) const {
    const std::int64_t contiguous = is_k_major() ? k : mn;
    return contiguous % elements == 0 && reinterpret_cast<std::uintptr_t>(data) % kVectorBytes == 0;
  }
};

template <class A, class B, class Out>
struct Product {
  MatrixOperand<A> a;
  MatrixOperand<B> b;
  Out* c;
  std::int64_t m, n, k;

  Product(const Shape& shape, const A* a_data, const B* b_data, Out* c_data)
      : a(a_data, shape["m"], shape["k"], a_is_k_major(shape.layout())),
        b(b_data, shape["n"], shape["k"], b_is_k_major(shape.layout())),
        c(c_data),
        m(shape["m"]),
        n(shape["n"]),
        k(shape["k"]) {}
};

// Calls `make` with the layout as a compile-time constant.
template <class Make>
auto with_layout(Layout layout, const Make& make) {
  switch (layout) {
    case Layout::nn:
      return make(std::integral_constant<Layout, Layout::nn>());
    case Layout::tn:
      return make(std::integral_constant<Layout, Layout::tn>());
    default:
      return make(std::integral_constant<Layout, Layout::nt>());
  }
}

// Epilogues: functors that a kernel applies to a sum before it stores it, with the bias of the
// sum's column. A kernel loads its columns' biases before it stores the first result: the compiler
// could not move a load before a store that may write the same memory. This one changes nothing.
struct Plain {
  __device__ float bias_of(std::int64_t /*column*/, std::int64_t /*n*/) const { return 0; }
  __device__ float operator()(float sum, float /*bias*/) const { return sum; }
};

// gelu(sum + bias), with the form of tanh that the output's precision needs.
template <class Out>
struct BiasGelu {
  const Out* bias;

  // 0 for columns from n on.
  __device__ float bias_of(std::int64_t column, std::int64_t n) const {
    return column < n ? to_float(bias[column]) : 0;
  }
  __device__ float operator()(float sum, float bias_of_column) const {
    return gelu_approx<Out>(sum + bias_of_column);
  }
};

// Neighbours of one row that one instruction stores.
template <class Out, int kCount>
struct alignas(kCount * sizeof(Out)) OutVector {
  Out element[kCount];
};

// True if rows of n elements from `c` on fall into aligned vectors of `count`.
template <class Out>
bool can_store_vector(const Out* c, std::int64_t n, int count) {
  return n % count == 0 && reinterpret_cast<std::uintptr_t>(c) % kVectorBytes == 0;
}

// Stores result[0..kCount) at c[row, column...], up to column n.
template <int kCount, class Out>
__device__ void store_results(Out* c, std::int64_t n, std::int64_t row, std::int64_t column,
                              const float* result, bool vectorized) {
  if (vectorized) {
    if (column >= n) return;
    OutVector<Out, kCount> out;
#pragma unroll
    for (int j = 0; j < kCount; ++j) out.element[j] = from_float<Out>(result[j]);
    *reinterpret_cast<OutVector<Out, kCount>*>(&c[row * n + column]) = out;
  } else {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (column + j < n) c[row * n + column + j] = from_float<Out>(result[j]);
    }
  }
}

}  // namespace ridgebench::cuda
