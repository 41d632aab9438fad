// Fills the matrices on which tuning.hpp measures candidates with normal numbers, as a run does by
// default: zeros would be multiplied at a higher clock.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/random.hpp"
#include "kernels/matmul/tile/tuning.hpp"

namespace ridgebench::cuda {
namespace {

template <class T>
__global__ void fill_random(T* x, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const PhiloxBlock block = random_block(0, 0, i);
  const float radius = sqrtf(-2 * logf((static_cast<float>(block.word[0]) + 1) * 0x1p-32F));
  const float angle = static_cast<float>(block.word[1]) * (6.2831853F * 0x1p-32F);
  x[i] = from_float<T>(radius * cosf(angle));  // Box and Muller
}

}  // namespace

template <class T>
std::shared_ptr<T> random_elements(Queue& queue, std::int64_t n) {
  auto memory =
      std::static_pointer_cast<T>(queue.allocate(static_cast<std::size_t>(n) * sizeof(T)));
  constexpr int threads = 256;
  const unsigned blocks = blocks_for(n, threads);
  fill_random<<<blocks, threads, 0, stream_of(queue)>>>(memory.get(), n);
  check(cudaGetLastError());
  return memory;
}

template std::shared_ptr<float> random_elements(Queue&, std::int64_t);
template std::shared_ptr<Tf32> random_elements(Queue&, std::int64_t);
template std::shared_ptr<Fp16> random_elements(Queue&, std::int64_t);
template std::shared_ptr<Bf16> random_elements(Queue&, std::int64_t);
template std::shared_ptr<Fp8E4m3> random_elements(Queue&, std::int64_t);
template std::shared_ptr<Fp8E5m2> random_elements(Queue&, std::int64_t);

void warm_up(Queue& queue, const Launch& launch) {
  launch();
  check(cudaStreamSynchronize(stream_of(queue)));
}

}  // namespace ridgebench::cuda
