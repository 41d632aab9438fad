// Matrix product by its definition, one thread per element of C. Neighbouring threads of a warp
// take neighbouring rows. In layout nt each load of A and each store to C then touches 32 rows, and
// the L1 cache moves 32 bytes or more for every element it delivers. Its bandwidth is the limit,
// far below any roof. Blocks along z serve the products of a batch. The fused form adds the bias
// and applies GeLU before it stores, the block-scaled form multiplies each number by its scale, and
// the grouped form takes the matrix of the token's group.
#include <memory>
#include <vector>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/block_scales.hpp"
#include "kernels/matmul/tile/operands.cuh"
#include "kernels/matmul/token_groups.hpp"

namespace ridgebench::cuda::matmul_naive {

constexpr int kTileM = kWarp;
constexpr int kTileN = 8;

template <class A, class B, class Out, class Epilogue>
__global__ void matmul_naive(ProductBatch<A, B, Out> product, Epilogue epilogue) {
  const std::int64_t m = std::int64_t{blockIdx.x} * kTileM + threadIdx.x;
  const std::int64_t n = std::int64_t{blockIdx.y} * kTileN + threadIdx.y;
  if (m >= product.m || n >= product.n) return;
  product.start_block();
  float sum = 0;
  for (std::int64_t k = 0; k < product.k; ++k) {
    sum += to_float(product.a(m, k)) * to_float(product.b(n, k));
  }
  product.c_of_block()[m * product.ldc + n] =
      from_float<Out>(epilogue(sum, epilogue.bias_of(n, product.n)));
}

template <class Scales>
__global__ void matmul_block_scaled_naive(
    Product<typename Scales::Number, typename Scales::Number, Bf16> product,
    const typename Scales::Scale* scale_a, const typename Scales::Scale* scale_b) {
  const std::int64_t m = std::int64_t{blockIdx.x} * kTileM + threadIdx.x;
  const std::int64_t n = std::int64_t{blockIdx.y} * kTileN + threadIdx.y;
  if (m >= product.m || n >= product.n) return;
  float sum = 0;
  for (std::int64_t k = 0; k < product.k; ++k) {
    sum += number_at(product.a.data, m * product.k + k) *
           to_float(scale_a[Scales::index_a(m, k, product.m, product.k)]) *
           number_at(product.b.data, n * product.k + k) *
           to_float(scale_b[Scales::index_b(n, k, product.n, product.k)]);
  }
  product.c[m * product.n + n] = from_float<Bf16>(sum);
}

// groups[m]: the group of token m.
template <class T>
__global__ void matmul_grouped_naive(Product<T, T, T> product, const std::int32_t* groups) {
  const std::int64_t m = std::int64_t{blockIdx.x} * kTileM + threadIdx.x;
  const std::int64_t n = std::int64_t{blockIdx.y} * kTileN + threadIdx.y;
  if (m >= product.m || n >= product.n) return;
  product.b.data += groups[m] * product.n * product.k;
  float sum = 0;
  for (std::int64_t k = 0; k < product.k; ++k) {
    sum += to_float(product.a(m, k)) * to_float(product.b(n, k));
  }
  product.c[m * product.n + n] = from_float<T>(sum);
}

template <class A, class B, class Out, class Epilogue>
Launch launch(const Queue& queue, const ProductBatch<A, B, Out>& product, Epilogue epilogue) {
  dim3 grid = tiles_for(product.n, product.m, kTileN, kTileM);  // columns of C along y
  grid.z = product.batch;
  return [product, epilogue, grid, stream = stream_of(queue)] {
    matmul_naive<<<grid, dim3(kTileM, kTileN), 0, stream>>>(product, epilogue);
  };
}

template <class P>
Launch bind(Queue& queue, const Shape& shape, const typename P::A* a, const typename P::B* b,
            typename P::Out* c) {
  return launch(queue, ProductBatch(shape, a, b, c), Plain{});
}

template <class P>
Launch bind_gelu(Queue& queue, const Shape& shape, const typename P::A* a, const typename P::B* b,
                 const typename P::Out* bias, typename P::Out* c) {
  return launch(queue, ProductBatch(shape, a, b, c), BiasGelu<typename P::Out>{bias});
}

template <class Scales>
Launch bind_block_scaled(Queue& queue, const Shape& shape, const typename Scales::Number* a,
                         const typename Scales::Number* b, const typename Scales::Scale* scale_a,
                         const typename Scales::Scale* scale_b, Bf16* c) {
  const Product product(shape, a, b, c);
  const dim3 grid = tiles_for(product.n, product.m, kTileN, kTileM);
  return [=, stream = stream_of(queue)] {
    matmul_block_scaled_naive<Scales>
        <<<grid, dim3(kTileM, kTileN), 0, stream>>>(product, scale_a, scale_b);
  };
}

Technique technique(const std::string& operation, double approximation_error = 0) {
  return {.operation = operation,
          .name = "naive",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .pace = Pace::naive,
          .supports =
              [](const Machine&, const Shape& s, FormatPair) {
                const auto reason = tile_grid_limit(s["n"], s["m"], kTileN, kTileM);
                return reason ? reason : batch_limit(s);
              },
          .approximation_error = approximation_error,
          .optional_dimensions = true};
}

const Registration naive{technique("matmul"), AllProducts{} + Types<ProductTypes<Tf32x3>>{},
                         []<class P>() { return bind<P>; }};
const Registration naive_gelu{
    []<class P>() { return technique("matmul_gelu", kGeluError<typename P::Out>); }, AllProducts{},
    []<class P>() { return bind_gelu<P>; }};
const Registration naive_block_scaled{technique("matmul_block_scaled"),
                                      bind_block_scaled<Fp32Scales>};
const Registration naive_mxfp8{technique("matmul_mxfp8"), bind_block_scaled<Mxfp8>};
const Registration naive_nvfp4{technique("matmul_nvfp4"), bind_block_scaled<Nvfp4>};

struct GroupOfToken {
  std::shared_ptr<void> memory;
};

GroupOfToken prepare_groups(Queue& queue, const Shape& shape) {
  std::vector<std::int32_t> groups;
  for (const TokenGroup& group : busy_groups(shape)) {
    groups.insert(groups.end(), static_cast<std::size_t>(group.tokens),
                  static_cast<std::int32_t>(group.index));
  }
  const std::size_t bytes = groups.size() * sizeof groups[0];
  const GroupOfToken table{queue.allocate(bytes)};
  check(cudaMemcpyAsync(table.memory.get(), groups.data(), bytes, cudaMemcpyHostToDevice,
                        stream_of(queue)));
  check(cudaStreamSynchronize(stream_of(queue)));
  return table;
}

template <class T>
Launch bind_groups(Queue& queue, const GroupOfToken& table, const Shape& shape, const T* a,
                   const T* b, T* c) {
  const Product product(shape, a, b, c);
  const dim3 grid = tiles_for(product.n, product.m, kTileN, kTileM);
  return [product, grid, memory = table.memory, stream = stream_of(queue)] {
    matmul_grouped_naive<<<grid, dim3(kTileM, kTileN), 0, stream>>>(
        product, static_cast<const std::int32_t*>(memory.get()));
  };
}

const Registration naive_grouped{technique("matmul_grouped"), Types<float, Bf16>{},
                                 []<class T>() { return planned(prepare_groups, bind_groups<T>); }};

}  // namespace ridgebench::cuda::matmul_naive
