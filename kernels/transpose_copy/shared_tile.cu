// Transposed copy by tiles in shared memory: a warp reads neighbouring elements of a row of x, and
// after the barrier writes neighbouring elements of a row of y. A tile is 128 bytes wide, and a
// thread loads 16 bytes or more before it stores the first, so that enough loads are in flight. The
// rows of the tile are padded by a word, so that a column lies in 32 different banks. The limit is
// the memory bandwidth of a copy.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/training_formats.hpp"

namespace ridgebench::cuda::transpose_copy_shared_tile {

constexpr int kRows = 8;  // of threads; kWarp threads are a row
constexpr int kWordBytes = 4;

template <class T>
constexpr int kWordElements = kWordBytes / static_cast<int>(sizeof(T));
template <class T>
constexpr int kSide = kWarp * kWordElements<T>;

template <class T>
__global__ void __launch_bounds__(kWarp* kRows)
    transpose_copy_shared_tile(const T* x, T* y, std::int64_t m, std::int64_t n) {
  __shared__ T tile[kSide<T>][kSide<T> + kWordElements<T>];
  const std::int64_t first_row = std::int64_t{blockIdx.y} * kSide<T>;
  const std::int64_t first_column = std::int64_t{blockIdx.x} * kSide<T>;
  const int warp = static_cast<int>(threadIdx.y);
  const int lane = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int r = 0; r < kSide<T>; r += kRows) {
#pragma unroll
    for (int c = 0; c < kSide<T>; c += kWarp) {
      const std::int64_t i = first_row + r + warp;
      const std::int64_t j = first_column + c + lane;
      if (i < m && j < n) tile[r + warp][c + lane] = x[i * n + j];
    }
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < kSide<T>; r += kRows) {
#pragma unroll
    for (int c = 0; c < kSide<T>; c += kWarp) {
      const std::int64_t j = first_column + r + warp;
      const std::int64_t i = first_row + c + lane;
      if (i < m && j < n) y[j * m + i] = tile[c + lane][r + warp];
    }
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  return [=, tiles = tiles_for(m, n, kSide<T>, kSide<T>), stream = stream_of(queue)] {
    transpose_copy_shared_tile<<<tiles, dim3(kWarp, kRows), 0, stream>>>(x, y, m, n);
  };
}

template <class T>
Technique technique() {
  return {.operation = "transpose_copy",
          .name = "shared_tile",
          .engine = Engine::memory,
          .supports = supports_tiles<kSide<T>, kSide<T>>};
}

const Registration shared_tile{[]<class T>() { return technique<T>(); }, TrainingTypes{},
                               []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::transpose_copy_shared_tile
