// Own kernels for the stage `isolation` of scripts/gpu_check.sh: an honest one, and others that do
// not do their work in each launch. None of these may be `ok`.
#include <map>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/interface/kernel.hpp"

namespace own_kernels {
namespace {

using namespace ridgebench;
using cuda::check;
using cuda::stream_of;

constexpr int kThreads = 256;

__global__ void twice(const float* x, float* y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

__device__ bool g_written = false;

__global__ void look(const float* y, std::int64_t n) {
  g_written = !isnan(y[0]) && !isnan(y[n - 1]);
}

__global__ void twice_unless_written(const float* x, float* y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (!g_written && i < n) y[i] = 2 * x[i];
}

__global__ void write_input(float* x) { x[0] = 0; }

Operation own_operation() {
  Operation op = elementwise(
      {.name = "own_twice", .flops_per_element = 1, .value = [](double x) { return 2 * x; }});
  op.formats = {Format::fp32};
  op.shapes = [](Profile, Pace, const Machine&) -> std::vector<Shape> {
    return {Shape({{"n", std::int64_t{1} << 26U}})};
  };
  return op;
}

const RegisterOperation added{own_operation()};

// Makes a launch of a function of the stream, x, y and n.
template <class F>
auto bound(F f) {
  return [f](Queue& queue, const Shape& s, const float* x, float* y) -> Launch {
    return [=, n = s["n"], stream = stream_of(queue)] { f(stream, x, y, n); };
  };
}

unsigned grid_of(std::int64_t n) { return static_cast<unsigned>(ceil_div(n, kThreads)); }

Technique named(const char* name) {
  return {.operation = "own_twice", .name = name, .engine = Engine::memory};
}

const Registration honest(named("honest"),
                          bound([](cudaStream_t stream, const float* x, float* y, std::int64_t n) {
                            twice<<<grid_of(n), kThreads, 0, stream>>>(x, y, n);
                          }));

const Registration returns_if_written(named("returns_if_written"),
                                      bound([](cudaStream_t stream, const float* x, float* y,
                                               std::int64_t n) {
                                        look<<<1, 1, 0, stream>>>(y, n);
                                        twice_unless_written<<<grid_of(n), kThreads, 0, stream>>>(
                                            x, y, n);
                                      }));

const Registration remembers(named("remembers"), bound([](cudaStream_t stream, const float* x,
                                                          float* y, std::int64_t n) {
                               static std::map<const float*, int> launches;
                               if (++launches[x] <= 3)
                                 twice<<<grid_of(n), kThreads, 0, stream>>>(x, y, n);
                             }));

const Registration other_stream(named("other_stream"),
                                bound([](cudaStream_t, const float* x, float* y, std::int64_t n) {
                                  static const cudaStream_t other = [] {
                                    cudaStream_t made = nullptr;
                                    check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
                                    return made;
                                  }();
                                  twice<<<grid_of(n), kThreads, 0, other>>>(x, y, n);
                                }));

const Registration writes_input(named("writes_input"), bound([](cudaStream_t stream, const float* x,
                                                                float* y, std::int64_t n) {
                                  twice<<<grid_of(n), kThreads, 0, stream>>>(x, y, n);
                                  write_input<<<1, 1, 0, stream>>>(const_cast<float*>(x));
                                }));

}  // namespace
}  // namespace own_kernels
