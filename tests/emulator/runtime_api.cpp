// The functions of the CUDA runtime that techniques call, for a made-up GPU. Its streaming
// multiprocessors are few, so that persistent kernels go round more than once at small sizes; its
// compute capability is the newest without instructions that are not emulated.
#include <cuda_runtime_api.h>

#include <cstring>
#include <map>

#include "tests/emulator/emulator.hpp"

namespace {

const std::map<cudaDeviceAttr, int>& attributes() {
  static const std::map<cudaDeviceAttr, int> known{
      {cudaDevAttrMultiProcessorCount, 4},
      {cudaDevAttrComputeCapabilityMajor, 8},
      {cudaDevAttrComputeCapabilityMinor, 9},
      {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
      {cudaDevAttrMaxThreadsPerBlock, 1024},
      {cudaDevAttrMaxSharedMemoryPerBlock, 48 << 10},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 << 10},
      {cudaDevAttrL2CacheSize, 1 << 20},
      {cudaDevAttrWarpSize, 32},
  };
  return known;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int /*device*/) {
  const auto known = attributes().find(attribute);
  if (known == attributes().end()) {
    throw ridgepoint::emulator::NotEmulated("device attribute " + std::to_string(attribute));
  }
  *value = known->second;
  return cudaSuccess;
}

// What is wrong with a launch is thrown by it.
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t /*error*/) { return "emulated error"; }
const char* cudaGetErrorString(cudaError_t /*error*/) { return "emulated error"; }

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t /*stream*/) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* /*kernel*/,
                                                          int /*threads*/, std::size_t /*shared*/) {
  *blocks = 2;
  return cudaSuccess;
}

}  // extern "C"
