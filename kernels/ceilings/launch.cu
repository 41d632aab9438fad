// The cost of launching a kernel that copies one word: `stream` launches n of them one after
// another, `graph` launches a graph that was instantiated with n of them in a chain. The limit of
// `stream` is the driver on the host and the GPU's front end that starts kernels, that of `graph`
// the front end.
#include <memory>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::ceilings_launch {

__global__ void launch_copy_word(const float* x, float* y) { *y = *x; }

void copy_words(cudaStream_t stream, std::int64_t n, const float* x, float* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    launch_copy_word<<<1, 1, 0, stream>>>(x + i, y + i);
  }
}

Launch bind_stream(Queue& queue, const Shape& shape, const float* x, float* y) {
  return [=, n = shape["n"], stream = stream_of(queue)] { copy_words(stream, n, x, y); };
}

using Graph = std::unique_ptr<CUgraph_st, decltype(&cudaGraphDestroy)>;
using Executable = std::shared_ptr<CUgraphExec_st>;

Graph capture_copies(cudaStream_t stream, std::int64_t n, const float* x, float* y) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  copy_words(stream, n, x, y);
  check(cudaStreamEndCapture(stream, &graph));
  return {graph, cudaGraphDestroy};
}

Executable instantiate(const Graph& graph) {
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph.get(), 0));
  return {executable, cudaGraphExecDestroy};
}

Launch bind_graph(Queue& queue, const Shape& shape, const float* x, float* y) {
  const cudaStream_t stream = stream_of(queue);
  const Executable executable = instantiate(capture_copies(stream, shape["n"], x, y));
  return [=] { check(cudaGraphLaunch(executable.get(), stream)); };
}

Technique technique(const std::string& name) {
  return {.operation = "launch", .name = name, .engine = Engine::memory};
}

const Registration stream{technique("stream"), bind_stream};
const Registration graph{technique("graph"), bind_graph};

}  // namespace ridgebench::cuda::ceilings_launch
