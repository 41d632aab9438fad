// The operands of C[M,N] = A B on the device in any layout, and the epilogue that finishes C. Row m
// of A and column n of B are both called a row here: C[m,n] is the dot product of row m of A and
// row n of B along k, and the layout decides which of the two strides of an operand is 1 (K-major
// or MN-major in CUTLASS's terms).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "kernels/common/cuda/gelu.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/gelu_error.hpp"
#include "kernels/common/product_strides.hpp"
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

  MatrixOperand(const T* elements, const StoredLines& stored, bool k_major)
      : data(elements),
        mn(k_major ? stored.lines : stored.length),
        k(k_major ? stored.length : stored.lines),
        stride_mn(k_major ? stored.stride : 1),
        stride_k(k_major ? 1 : stored.stride) {}

  __device__ T operator()(std::int64_t row, std::int64_t depth) const {
    return data[row * stride_mn + depth * stride_k];
  }

  [[nodiscard]] __host__ __device__ bool is_k_major() const { return stride_k == 1; }

  // Elements from a line of memory to the next.
  [[nodiscard]] __host__ __device__ std::int64_t leading_dimension() const {
    return is_k_major() ? stride_mn : stride_k;
  }

  // True if every row of memory falls into aligned vectors of `elements` elements, and the first
  // one starts at a multiple of 16 bytes.
  [[nodiscard]] bool is_vectorizable(int elements) const {
    const std::int64_t contiguous = is_k_major() ? k : mn;
    return contiguous % elements == 0 && leading_dimension() % elements == 0 &&
           reinterpret_cast<std::uintptr_t>(data) % kVectorBytes == 0;
  }
};

template <class ElementA, class ElementB, class ElementOut>
struct Product {
  using A = ElementA;
  using B = ElementB;
  using Out = ElementOut;
  MatrixOperand<A> a;
  MatrixOperand<B> b;
  Out* c;
  std::int64_t m, n, k;

  Product(const Shape& shape, const A* a_data, const B* b_data, Out* c_data)
      : a(a_data, lines_of_a(shape), a_is_k_major(shape.layout())),
        b(b_data, lines_of_b(shape), b_is_k_major(shape.layout())),
        c(c_data),
        m(shape["m"]),
        n(shape["n"]),
        k(shape["k"]) {}
};

// Products of a batch, whose rows of C may lie apart. The block's product is number blockIdx.z. A
// batch whose lines are aligned has aligned matrices too, because they are whole lines.
template <class A, class B, class Out>
struct ProductBatch : Product<A, B, Out> {
  std::int64_t ldc;                           // elements from a row of C to the next
  std::int64_t stride_a, stride_b, stride_c;  // elements from a matrix to the next
  unsigned batch;

  ProductBatch(const Shape& shape, const A* a_data, const B* b_data, Out* c_data)
      : Product<A, B, Out>(shape, a_data, b_data, c_data),
        ldc(lines_of_c(shape).stride),
        stride_a(lines_of_a(shape).elements()),
        stride_b(lines_of_b(shape).elements()),
        stride_c(lines_of_c(shape).elements()),
        batch(static_cast<unsigned>(batch_of(shape))) {}

  // Moves to the operands of the block's product; c stays, for c_of_block(). A kernel calls it
  // first.
  __device__ void start_block() {
    this->a.data += blockIdx.z * stride_a;
    this->b.data += blockIdx.z * stride_b;
  }
  // Of the block's tile of C.
  [[nodiscard]] __device__ std::int64_t first_row(int tile_rows) const {
    return std::int64_t{blockIdx.y} * tile_rows;
  }
  [[nodiscard]] __device__ Out* c_of_block() const { return this->c + blockIdx.z * stride_c; }
};

// For Technique::supports: why a grid cannot have a product for each z.
inline std::optional<std::string> batch_limit(const Shape& shape) {
  constexpr std::int64_t kMaxGridZ = 65535;  // source as of kMaxGridY
  if (batch_of(shape) <= kMaxGridZ) return std::nullopt;
  return "the grid would have more than 65535 blocks along z";
}

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

// True if rows of n elements from `c` on, each `ldc` after the one before, fall into aligned
// vectors of `count`.
template <class Out>
bool can_store_vector(const Out* c, std::int64_t n, std::int64_t ldc, int count) {
  return n % count == 0 && ldc % count == 0 &&
         reinterpret_cast<std::uintptr_t>(c) % kVectorBytes == 0;
}
template <class Out>
bool can_store_vector(const Out* c, std::int64_t n, int count) {
  return can_store_vector(c, n, n, count);
}

// Stores result[0..kCount) at c[row, column...], up to column n.
template <int kCount, class Out>
__device__ void store_results(Out* c, std::int64_t n, std::int64_t ldc, std::int64_t row,
                              std::int64_t column, const float* result, bool vectorized) {
  if (vectorized) {
    if (column >= n) return;
    OutVector<Out, kCount> out;
#pragma unroll
    for (int j = 0; j < kCount; ++j) out.element[j] = from_float<Out>(result[j]);
    *reinterpret_cast<OutVector<Out, kCount>*>(&c[row * ldc + column]) = out;
  } else {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (column + j < n) c[row * ldc + column + j] = from_float<Out>(result[j]);
    }
  }
}
template <int kCount, class Out>
__device__ void store_results(Out* c, std::int64_t n, std::int64_t row, std::int64_t column,
                              const float* result, bool vectorized) {
  store_results<kCount>(c, n, n, row, column, result, vectorized);
}

}  // namespace ridgebench::cuda
