#include "tests/emulator/core/graph.hpp"

#include <cuda_runtime_api.h>

#include <memory>

using ridgebench::emulator::captured_launches;
using ridgebench::emulator::Launches;

// The toolkit declares these types without defining them.
struct CUgraph_st {
  Launches launches;
};
struct CUgraphExec_st {
  Launches launches;
};

Launches*& ridgebench::emulator::captured_launches() {
  static Launches* launches = nullptr;
  return launches;
}

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t /*stream*/, cudaStreamCaptureMode /*mode*/) {
  captured_launches() = new Launches;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t /*stream*/, cudaGraph_t* graph) {
  const std::unique_ptr<Launches> launches(captured_launches());
  captured_launches() = nullptr;
  *graph = new CUgraph_st{*launches};
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long /*flags*/) {
  *executable = new CUgraphExec_st{graph->launches};
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t /*stream*/) {
  for (const auto& launch : executable->launches) launch();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}

}  // extern "C"
