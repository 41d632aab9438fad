// Additions to memory by atomicAdd without a use of the result: neighbouring threads add to
// neighbouring addresses, a whole cache line per warp, and start over where the addresses end. The
// limit is the rate at which the slices of the L2 cache add: all slices together where addresses
// are many, one slice with one addition at a time where all threads share an address.
#include "kernels/ceilings/atomics.hpp"
#include "kernels/common/cuda/launch.cuh"

namespace ridgebench::cuda::ceilings_atomics {

constexpr int kThreads = 256;
constexpr int kAdds = 64;  // per thread, all to one address

__global__ void __launch_bounds__(kThreads) atomic_add_clear(float* sum, std::int64_t addresses) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < addresses) sum[i] = 0;
}

__global__ void __launch_bounds__(kThreads)
    atomic_add(const float* x, float* sum, std::int64_t addresses, std::int64_t adds) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t address = thread % addresses;
  const std::int64_t left = adds - thread / addresses * kAdds;
  const float addend = addend_of(x[address]);
  if (left >= kAdds) {
#pragma unroll 16
    for (int i = 0; i < kAdds; ++i) atomicAdd(sum + address, addend);
  } else {
    for (std::int64_t i = 0; i < left; ++i) atomicAdd(sum + address, addend);
  }
}

std::int64_t threads_of(const Shape& shape) {
  return ceil_div(shape["adds"], kAdds) * shape["addresses"];
}

Launch bind(Queue& queue, const Shape& shape, const float* x, float* sum) {
  const std::int64_t addresses = shape["addresses"];
  const std::int64_t adds = shape["adds"];
  const unsigned blocks_to_clear = blocks_for(addresses, kThreads);
  const unsigned blocks = blocks_for(threads_of(shape), kThreads);
  return [=, stream = stream_of(queue)] {
    atomic_add_clear<<<blocks_to_clear, kThreads, 0, stream>>>(sum, addresses);
    atomic_add<<<blocks, kThreads, 0, stream>>>(x, sum, addresses, adds);
  };
}

const Registration direct{
    {.operation = "atomic_add",
     .name = "direct",
     .engine = Engine::memory,
     .supports = [](const Machine&, const Shape& s,
                    FormatPair) { return grid_limit(threads_of(s), kThreads); }},
    bind};

}  // namespace ridgebench::cuda::ceilings_atomics
