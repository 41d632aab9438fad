// Dot product by CUB (DeviceReduce::TransformReduce), the yardstick: pairs of elements are read
// through a zip iterator, multiplied and summed. CUB cannot see through the iterator that the
// elements are contiguous, so it loads each one by itself.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/lib/cub_include.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"

#if CUB_VERSION >= 200400
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>
#endif

namespace ridgebench::cuda::dot_cub {

static_assert(kCubTransformReduce.since == 200400);
#if CUB_VERSION >= 200400

template <class T>
struct Product {
  __device__ float operator()(const thrust::tuple<T, T>& pair) const {
    return to_float(thrust::get<0>(pair)) * to_float(thrust::get<1>(pair));
  }
};

// Without a workspace it only sets `bytes` to the size it needs, as CUB's functions do.
template <class T>
void reduce(void* workspace, std::size_t& bytes, std::int64_t n, const T* x, const T* y, float* s,
            cudaStream_t stream) {
  check(cub::DeviceReduce::TransformReduce(workspace, bytes, thrust::make_zip_iterator(x, y), s, n,
                                           ::cuda::std::plus<float>{}, Product<T>{}, 0.0F, stream));
}

struct Workspace {
  std::size_t bytes = 0;
  std::shared_ptr<void> memory = nullptr;
};

template <class T>
Workspace prepare(Queue& queue, const Shape& shape) {
  Workspace workspace;
  const T* const none = nullptr;
  reduce(nullptr, workspace.bytes, shape["n"], none, none, nullptr, stream_of(queue));
  workspace.memory = queue.allocate(workspace.bytes);
  return workspace;
}

template <class T>
Launch bind(Queue& queue, const Workspace& workspace, const Shape& shape, const T* x, const T* y,
            float* s) {
  return [=, n = shape["n"], stream = stream_of(queue)] {
    std::size_t bytes = workspace.bytes;
    reduce(workspace.memory.get(), bytes, n, x, y, s, stream);
  };
}

template <class T>
auto planned_reduce() {
  return planned(prepare<T>, bind<T>);
}

#else

template <class T>
auto planned_reduce() {
  return +[](Queue&, const Shape&, const T*, const T*, float*) -> Launch {
    throw Unsupported(*cub_lacks(kCubTransformReduce, CUB_VERSION));
  };
}

#endif

std::optional<std::string> supports(const Machine&, const Shape&, FormatPair) {
  return cub_lacks(kCubTransformReduce, CUB_VERSION);
}

const Registration cub{{.operation = "dot",
                        .name = "cub",
                        .engine = Engine::fma,
                        .arithmetic = Format::fp32,
                        .origin = Origin::library,
                        .supports = supports},
                       ElementTypes{},
                       []<class T>() { return planned_reduce<T>(); }};

}  // namespace ridgebench::cuda::dot_cub
