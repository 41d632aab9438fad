// Owners of the CUDA objects that the adapter creates.
#pragma once

#include <cuda_runtime.h>

#include <memory>

namespace ridgebench {

// Destroys a CUDA object by its own function.
template <class Handle, cudaError_t (*Destroy)(Handle)>
struct CudaDeleter {
  using pointer = Handle;
  void operator()(Handle handle) const { static_cast<void>(Destroy(handle)); }
};
using CudaStream = std::unique_ptr<cudaStream_t, CudaDeleter<cudaStream_t, cudaStreamDestroy>>;
using CudaEvent = std::unique_ptr<cudaEvent_t, CudaDeleter<cudaEvent_t, cudaEventDestroy>>;
using CudaGraph = std::unique_ptr<cudaGraph_t, CudaDeleter<cudaGraph_t, cudaGraphDestroy>>;
using CudaGraphExec =
    std::unique_ptr<cudaGraphExec_t, CudaDeleter<cudaGraphExec_t, cudaGraphExecDestroy>>;

}  // namespace ridgebench
