// Each thread keeps an 8 x 16 tile of C in registers: 24 elements from shared memory now serve 128
// multiply-adds. A block of 128 threads owns 128 x 128 outputs and moves along k in k-tiles of
// eight. While it multiplies the current k-tile it fetches the next one into registers, 16 bytes
// per load where the operand is aligned, and widens narrow formats to fp32 on their way to shared
// memory. Nine tenths of the inner loop are multiply-adds: the limit is now the FMA units. Blocks
// along z serve the products of a batch. The grouped form takes a block's tile from a table.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/tile/k_tile.cuh"
#include "kernels/matmul/tile/operands.cuh"
#include "kernels/matmul/tile/product_groups.cuh"

namespace ridgebench::cuda::matmul_register_tile {

constexpr int kTile = kTileRows;  // M and N of a block, and its threads

// Loads groups of four floats that lie kStep apart; `shared` must be aligned to 16 bytes.
template <int kStep, int kCount>
__device__ void load_groups(float (&x)[kCount], const float* shared) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const float4 four = reinterpret_cast<const float4&>(shared[i / 4 * kStep]);
    x[i] = four.x;
    x[i + 1] = four.y;
    x[i + 2] = four.z;
    x[i + 3] = four.w;
  }
}

// Products: ProductBatch or ProductGroups.
template <Layout kLayout, class Products, class Epilogue, class A = typename Products::A,
          class B = typename Products::B>
__global__ void __launch_bounds__(kTile, 2)
    matmul_register_tile(Products product, Widen<A> widen_a, Widen<B> widen_b, Epilogue epilogue,
                         bool aligned_a, bool aligned_b, bool aligned_c) {
  product.start_block();
  constexpr bool a_k_major = a_is_k_major(kLayout);
  constexpr bool b_k_major = b_is_k_major(kLayout);
  alignas(16) __shared__ KTile a[2];  // the current k-tile and the next
  alignas(16) __shared__ KTile b[2];
  const std::int64_t tile_m = product.first_row(kTile);
  const std::int64_t tile_n = std::int64_t{blockIdx.x} * kTile;
  // A warp owns 64 x 64 outputs: 8 x 4 threads with two groups of four rows and four groups of four
  // columns each. Their order keeps the 16-byte reads free of bank conflicts (maxas wiki, SGEMM).
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int thread_m = warp / 2 * 64 + lane / 2 % 8 * 4;
  const int thread_n = warp % 2 * 64 + (lane / 16 * 2 + lane % 2) * 4;

  store<a_k_major>(a[0], fetch<a_k_major>(product.a, tile_m, 0, aligned_a), widen_a);
  store<b_k_major>(b[0], fetch<b_k_major>(product.b, tile_n, 0, aligned_b), widen_b);
  __syncthreads();
  float accumulators[8][16] = {};
  int current = 0;
  for (std::int64_t next_k = kTileK; next_k < product.k + kTileK; next_k += kTileK) {
    const Fragment<A> next_a = fetch<a_k_major>(product.a, tile_m, next_k, aligned_a);
    const Fragment<B> next_b = fetch<b_k_major>(product.b, tile_n, next_k, aligned_b);
#pragma unroll
    for (int k = 0; k < kTileK; ++k) {
      float x[8];
      float y[16];
      load_groups<32>(x, &a[current][k][thread_m]);
      load_groups<16>(y, &b[current][k][thread_n]);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) accumulators[i][j] += x[i] * y[j];
      }
    }
    current ^= 1;
    store<a_k_major>(a[current], next_a, widen_a);
    store<b_k_major>(b[current], next_b, widen_b);
    __syncthreads();
  }
  const auto column = [&](int j) { return tile_n + thread_n + j / 4 * 16 + j % 4; };
  float bias[16];
#pragma unroll
  for (int j = 0; j < 16; ++j) bias[j] = epilogue.bias_of(column(j), product.n);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::int64_t m = tile_m + thread_m + i / 4 * 32 + i % 4;
    if (m >= product.m) continue;
    float* const row = accumulators[i];
#pragma unroll
    for (int j = 0; j < 16; ++j) row[j] = epilogue(row[j], bias[j]);
#pragma unroll
    for (int j = 0; j < 16; j += 4) {
      store_results<4>(product.c_of_block(), product.n, product.ldc, m, column(j), &row[j],
                       aligned_c);
    }
  }
}

// P is the product's types.
template <Layout kLayout, class P, class Products, class Epilogue>
Launch launch(const Queue& queue, const Products& product, dim3 grid, Epilogue epilogue) {
  const bool aligned_a = product.a.is_vectorizable(kTileK);
  const bool aligned_b = product.b.is_vectorizable(kTileK);
  const bool aligned_c = can_store_vector(product.c, product.n, product.ldc, 4);
  return [=, stream = stream_of(queue)] {
    matmul_register_tile<kLayout><<<grid, kTile, 0, stream>>>(product, widen_from<typename P::A>(),
                                                              widen_from<typename P::B>(), epilogue,
                                                              aligned_a, aligned_b, aligned_c);
  };
}

template <Layout kLayout, class P, class Epilogue>
Launch launch(const Queue& queue, const Shape& shape, const typename P::A* a,
              const typename P::B* b, typename P::Out* c, Epilogue epilogue) {
  const ProductBatch product(shape, reinterpret_cast<const KTileElement<typename P::A>*>(a),
                             reinterpret_cast<const KTileElement<typename P::B>*>(b), c);
  dim3 grid = tiles_for(product.m, product.n, kTile, kTile);
  grid.z = product.batch;
  return launch<kLayout, P>(queue, product, grid, epilogue);
}

template <class P>
Launch bind(Queue& queue, const Shape& shape, const typename P::A* a, const typename P::B* b,
            typename P::Out* c) {
  return with_layout(shape.layout(), [&](auto layout) {
    return launch<layout, P>(queue, shape, a, b, c, Plain{});
  });
}

template <class P>
Launch bind_gelu(Queue& queue, const Shape& shape, const typename P::A* a, const typename P::B* b,
                 const typename P::Out* bias, typename P::Out* c) {
  return launch<Layout::nt, P>(queue, shape, a, b, c, BiasGelu<typename P::Out>{bias});
}

Technique technique(const std::string& operation, double approximation_error = 0) {
  return {.operation = operation,
          .name = "register_tile",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .supports =
              [](const Machine&, const Shape& s, FormatPair) {
                const auto reason = tile_grid_limit(s["m"], s["n"], kTile, kTile);
                return reason ? reason : batch_limit(s);
              },
          .approximation_error = approximation_error,
          .optional_dimensions = true};
}

Launch bind_groups(Queue& queue, const GroupTable& table, const Shape& shape, const float* a,
                   const float* b, float* c) {
  return bind_group_tiles(table, shape, a, b, c, kTile, [&](const auto& product, dim3 grid) {
    return launch<Layout::nt, ProductTypes<float>>(queue, product, grid, Plain{});
  });
}

const Registration register_tile_grouped{
    {.operation = "matmul_grouped",
     .name = "register_tile",
     .engine = Engine::fma,
     .arithmetic = Format::fp32,
     .supports = [](const Machine&, const Shape& s,
                    FormatPair) { return group_grid_limit(s, kTile, kTile); }},
    planned(prepare_groups<kTile>, bind_groups)};
const Registration register_tile{technique("matmul"), AllProducts{},
                                 []<class P>() { return bind<P>; }};
const Registration register_tile_gelu{
    []<class P>() { return technique("matmul_gelu", kGeluError<typename P::Out>); }, AllProducts{},
    []<class P>() { return bind_gelu<P>; }};

}  // namespace ridgebench::cuda::matmul_register_tile
