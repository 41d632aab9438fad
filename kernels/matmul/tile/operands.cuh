// The operands of C[M,N] = A B on the device in any layout. A and B are seen as vectors of k
// numbers, the rows of A and the columns of B: C[i,j] is the dot product of vector i of A and
// vector j of B, and the layout only says whether a vector's numbers are neighbours in memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/common/cuda/pack.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/shape.hpp"

namespace ridgebench::cuda {

constexpr bool a_along_k(Layout layout) { return layout != Layout::tn; }
constexpr bool b_along_k(Layout layout) { return layout == Layout::nt; }

// Number p of vector r is data[r * across + p * along]; one of the two steps is 1.
template <class T>
struct Vectors {
  const T* data;
  std::int64_t count;   // m or n
  std::int64_t length;  // k
  std::int64_t across;
  std::int64_t along;

  Vectors(const T* operand, std::int64_t vectors, std::int64_t k, bool along_k)
      : data(operand),
        count(vectors),
        length(k),
        across(along_k ? k : 1),
        along(along_k ? 1 : vectors) {}

  __device__ T operator()(std::int64_t vector, std::int64_t p) const {
    return data[vector * across + p * along];
  }

  // Whether the operand falls into aligned groups of `elements` neighbours, each as a whole inside
  // one row of memory, and starts at a multiple of 16 bytes.
  [[nodiscard]] bool falls_into(int elements) const {
    const std::int64_t row = along == 1 ? length : count;
    return row % elements == 0 && reinterpret_cast<std::uintptr_t>(data) % kPackBytes == 0;
  }
};

template <class A, class B, class Out>
struct Product {
  Vectors<A> a;
  Vectors<B> b;
  Out* c;
  std::int64_t m, n, k;

  Product(const Shape& shape, const A* a_data, const B* b_data, Out* c_data)
      : a(a_data, shape["m"], shape["k"], a_along_k(shape.layout())),
        b(b_data, shape["n"], shape["k"], b_along_k(shape.layout())),
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

}  // namespace ridgebench::cuda
