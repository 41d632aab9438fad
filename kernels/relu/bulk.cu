// ReLU by bulk copies, as CUB streams on compute capability 9.0: the copy engine brings a block's
// numbers to shared memory in stages and takes the results back, so that loads in flight need no
// registers and no threads. A block requests all its stages at once and handles each as it comes.
// The limit is memory bandwidth, that of a copy.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/bulk_copy.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/relu/relu.cuh"

namespace ridgebench::cuda::relu_bulk {

constexpr int kThreads = 512;
constexpr int kStages = 4;
constexpr int kStageBytes = kThreads * kVectorBytes;  // 8 KiB: one vector per thread
constexpr int kBlockVectors = kStages * kThreads;
constexpr int kSharedBytes = kStages * (kStageBytes + static_cast<int>(sizeof(Barrier)));

// An SM holds up to four blocks, 128 KiB of stages: more than any device needs in flight.
template <class T>
__global__ void __launch_bounds__(kThreads) relu_bulk(const T* x, T* y, std::int64_t n) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  alignas(128) extern __shared__ std::byte memory[];
  Barrier* const full = reinterpret_cast<Barrier*>(memory + kStages * kStageBytes);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{blockIdx.x} * kBlockVectors;
  const std::int64_t vectors = n / kVectorElements<T>;
  // Bytes of a stage: fewer in the last block, where whole stages may be empty.
  const auto bytes = [&](int stage) {
    const std::int64_t left = (vectors - first - stage * kThreads) * kVectorBytes;
    return static_cast<int>(left < kStageBytes ? left : kStageBytes);
  };

  if (thread == 0) {
    for (int s = 0; s < kStages; ++s) mbarrier_init(full[s], 1);
    fence_mbarrier_init();
    for (int s = 0; s < kStages && bytes(s) > 0; ++s) {
      mbarrier_arrive_expect_tx(full[s], bytes(s));
      cp_async_bulk_load(memory + s * kStageBytes, x + (first + s * kThreads) * kVectorElements<T>,
                         bytes(s), full[s]);
    }
  }
  __syncthreads();  // no thread waits at a barrier before its initialisation
#pragma unroll
  for (int s = 0; s < kStages; ++s) {
    if (bytes(s) <= 0) break;  // for all threads alike
    mbarrier_wait_parity(full[s], 0);
    T* const stage = reinterpret_cast<T*>(memory + s * kStageBytes);
    if (thread * kVectorBytes < bytes(s)) {
      store_vector(stage, thread, relu(load_vector(stage, thread)));
    }
    fence_proxy_async();
    __syncthreads();  // the stage is written, and fenced by every thread that wrote
    if (thread == 0) {
      cp_async_bulk_store(y + (first + s * kThreads) * kVectorElements<T>, stage, bytes(s));
      cp_async_bulk_commit_group();
    }
  }
  // The elements after the last vector, in the first block.
  const std::int64_t behind = vectors * kVectorElements<T> + first + thread;
  if (blockIdx.x == 0 && behind < n) y[behind] = relu(x[behind]);
  // Shared memory must live until the engine has read it.
  if (thread == 0) cp_async_bulk_wait_group_read<0>();
#endif
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair format) {
  if (machine.compute_capability < 90) return "bulk copies need compute capability 9.0";
  return supports_vectors<kBlockVectors>(machine, shape, format);
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  require_aligned(x);
  require_aligned(y);
  if (compiled_capability(relu_bulk<T>) < 90) throw Unsupported("built for older devices only");
  const std::int64_t n = shape["n"];
  const unsigned blocks = blocks_for(n, kBlockVectors * kVectorElements<T>);
  return [=, stream = stream_of(queue)] {
    relu_bulk<T><<<blocks, kThreads, kSharedBytes, stream>>>(x, y, n);
  };
}

const Registration bulk{
    {.operation = "relu", .name = "bulk", .engine = Engine::memory, .supports = supports},
    ElementTypes{},
    []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::relu_bulk
