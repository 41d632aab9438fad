// Matrix product as three nested loops over the definition. Every product reads its two operands
// again, and the running sum waits for each addition: far below every roof at every size. It serves
// batches and leading dimensions. The fused form adds the bias and applies GeLU before it stores an
// element, the block-scaled form multiplies each number by its scale, and the grouped form takes
// the matrix of the token's group.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/common/product_strides.hpp"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/block_scales.hpp"
#include "kernels/matmul/token_groups.hpp"

namespace ridgebench {
namespace {

float gelu(float x) {
  const float scale = std::sqrt(2 * std::numbers::inv_pi_v<float>);
  return x * (0.5F + 0.5F * std::tanh(scale * (x + 0.044715F * x * x * x)));
}

// `finish` turns the sum of an element in column j into the output.
template <class A, class B, class Out, class Finish>
Launch product(const Queue& queue, const Shape& shape, const A* a, const B* b, Out* c,
               Finish finish) {
  const Layout layout = shape.layout();
  return [m = shape["m"], n = shape["n"], k = shape["k"], batch = batch_of(shape),
          of_a = lines_of_a(shape), of_b = lines_of_b(shape), of_c = lines_of_c(shape), layout,
          threads = queue.threads(), a, b, c, finish] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t row = 0; row < batch * m; ++row) {
      const std::int64_t i = row % m;
      const A* const own_a = a + row / m * of_a.elements();
      const B* const own_b = b + row / m * of_b.elements();
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t p = 0; p < k; ++p) {
          sum += decode(own_a[layout == Layout::tn ? p * of_a.stride + i : i * of_a.stride + p]) *
                 decode(own_b[layout == Layout::nt ? j * of_b.stride + p : p * of_b.stride + j]);
        }
        c[row * of_c.stride + j] = encode<Out>(finish(sum, j));
      }
    }
  };
}

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  return product(queue, shape, a, b, c, [](float sum, std::int64_t) { return sum; });
}

template <class A, class B, class Out>
Launch bind_gelu(Queue& queue, const Shape& shape, const A* a, const B* b, const Out* bias,
                 Out* c) {
  return product(queue, shape, a, b, c,
                 [bias](float sum, std::int64_t j) { return gelu(sum + decode(bias[j])); });
}

// Scales both operands number by number (block_scales.hpp).
template <class Scales>
Launch bind_block_scaled(Queue& queue, const Shape& shape, const typename Scales::Number* a,
                         const typename Scales::Number* b, const typename Scales::Scale* scale_a,
                         const typename Scales::Scale* scale_b, Bf16* c) {
  return [m = shape["m"], n = shape["n"], k = shape["k"], threads = queue.threads(), a, b, scale_a,
          scale_b, c] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t p = 0; p < k; ++p) {
          sum += decode_at(a, i * k + p) * decode(scale_a[Scales::index_a(i, p, m, k)]) *
                 decode_at(b, j * k + p) * decode(scale_b[Scales::index_b(j, p, n, k)]);
        }
        c[i * n + j] = encode<Bf16>(sum);
      }
    }
  };
}

// Each token by the matrix of its group (token_groups.hpp).
template <class T>
Launch bind_grouped(Queue& queue, const Shape& shape, const T* a, const T* b, T* c) {
  std::vector<const T*> matrix_of(static_cast<std::size_t>(shape["m"]));
  for (const TokenGroup& group : busy_groups(shape)) {
    std::fill_n(matrix_of.begin() + group.first, group.tokens,
                b + group.index * shape["n"] * shape["k"]);
  }
  return [n = shape["n"], k = shape["k"], threads = queue.threads(), matrix_of, a, c] {
    const std::int64_t m = std::ssize(matrix_of);
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < m; ++i) {
      const T* const matrix = matrix_of[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t p = 0; p < k; ++p)
          sum += decode(a[i * k + p]) * decode(matrix[j * k + p]);
        c[i * n + j] = encode<T>(sum);
      }
    }
  };
}

using Products = decltype(Fp32Products{} + Tf32Products{} + HalfProducts{} + Fp8Products{});

Technique technique(const std::string& operation) {
  return {.operation = operation,
          .name = "naive",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .pace = Pace::naive,
          .optional_dimensions = true};
}

const Registration naive{
    technique("matmul"), Products{} + Types<ProductTypes<Tf32x3>>{},
    []<class P>() { return bind<typename P::A, typename P::B, typename P::Out>; }};
const Registration naive_gelu{technique("matmul_gelu"), Products{}, []<class P>() {
                                return bind_gelu<typename P::A, typename P::B, typename P::Out>;
                              }};
const Registration naive_block_scaled{technique("matmul_block_scaled"),
                                      bind_block_scaled<Fp32Scales>};
const Registration naive_mxfp8{technique("matmul_mxfp8"), bind_block_scaled<Mxfp8>};
const Registration naive_nvfp4{technique("matmul_nvfp4"), bind_block_scaled<Nvfp4>};
const Registration naive_grouped{technique("matmul_grouped"), Types<float, Bf16>{},
                                 []<class T>() { return bind_grouped<T>; }};

}  // namespace
}  // namespace ridgebench
