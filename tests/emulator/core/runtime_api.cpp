// The functions of the CUDA runtime that techniques call, for an imaginary GPU. It has few
// streaming multiprocessors, so that persistent kernels loop at small sizes.
#include "tests/emulator/core/runtime_api.hpp"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/emulator/core/shared_memory.hpp"
#include "tests/emulator/emulator.hpp"

namespace {

using ridgebench::emulator::kMostDynamicBytes;
using ridgebench::emulator::kMostStaticBytes;

int compute_capability = 90;
int multiprocessors = ridgebench::emulator::kMultiprocessors;
double memory_bandwidth = 0;

// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
int threads_per_multiprocessor() {
  switch (compute_capability) {
    case 75:
      return 1024;
    case 86:
    case 89:
    case 120:
      return 1536;
    default:
      return 2048;
  }
}

std::map<const void*, std::size_t>& dynamic_bytes_allowed() {
  static std::map<const void*, std::size_t> allowed;
  return allowed;
}

std::map<cudaDeviceAttr, int> attributes() {
  return {
      {cudaDevAttrMultiProcessorCount, multiprocessors},
      {cudaDevAttrComputeCapabilityMajor, compute_capability / 10},
      {cudaDevAttrComputeCapabilityMinor, compute_capability % 10},
      {cudaDevAttrMaxThreadsPerMultiProcessor, threads_per_multiprocessor()},
      // 8000 bits are 2000 bytes per clock, at two transfers.
      {cudaDevAttrGlobalMemoryBusWidth, 8000},
      {cudaDevAttrMemoryClockRate, static_cast<int>(memory_bandwidth * multiprocessors / 2e6)},
      {cudaDevAttrMaxThreadsPerBlock, 1024},
      {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<int>(kMostStaticBytes)},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<int>(kMostDynamicBytes)},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 << 10},
      {cudaDevAttrL2CacheSize, 1 << 20},
      {cudaDevAttrWarpSize, 32},
  };
}

}  // namespace

void ridgebench::emulator::set_compute_capability(int capability) {
  compute_capability = capability;
}

void ridgebench::emulator::set_multiprocessors(int count) { multiprocessors = count; }

void ridgebench::emulator::set_memory_bandwidth(double bytes_per_s_and_multiprocessor) {
  memory_bandwidth = bytes_per_s_and_multiprocessor;
}

std::size_t ridgebench::emulator::most_dynamic_bytes(const void* kernel) {
  const auto found = dynamic_bytes_allowed().find(kernel);
  return found == dynamic_bytes_allowed().end() ? kMostStaticBytes : found->second;
}

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

// Device 1 is a peer, in the same memory.
cudaError_t cudaSetDevice(int /*device*/) { return cudaSuccess; }
cudaError_t cudaDeviceCanAccessPeer(int* possible, int device, int peer) {
  *possible = device == 0 && peer == 1 ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int /*peer*/, unsigned /*flags*/) { return cudaSuccess; }

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int /*device*/) {
  const auto all = attributes();
  const auto known = all.find(attribute);
  if (known == all.end()) {
    throw ridgebench::emulator::NotEmulated("device attribute " + std::to_string(attribute));
  }
  *value = known->second;
  return cudaSuccess;
}

// A launch throws its own errors.
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t /*error*/) { return "emulated error"; }
const char* cudaGetErrorString(cudaError_t /*error*/) { return "emulated error"; }

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t /*stream*/) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
  *memory = std::malloc(bytes);
  if (*memory != nullptr) std::memset(*memory, 0xff, bytes);  // NaN until it is written
  return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}

// Streams run in the order of their calls, and events are past when they are recorded.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t /*stream*/) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int /*to_device*/, const void* from, int /*from_device*/,
                                std::size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  *stream = nullptr;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t /*stream*/) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  *event = nullptr;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t /*event*/) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t /*event*/, cudaStream_t /*stream*/) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t /*stream*/, cudaEvent_t /*event*/,
                                unsigned /*flags*/) {
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t /*stream*/) { return cudaSuccess; }

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) {
    throw ridgebench::emulator::NotEmulated("kernel attribute " + std::to_string(attribute));
  }
  const auto bytes = static_cast<std::size_t>(value);
  if (value < 0 || bytes > kMostDynamicBytes) return cudaErrorInvalidValue;
  dynamic_bytes_allowed()[kernel] = bytes;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* /*kernel*/,
                                           const cudaLaunchConfig_t* configuration) {
  unsigned size = 1;
  for (unsigned i = 0; i < configuration->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = configuration->attrs[i];
    if (attribute.id == cudaLaunchAttributeClusterDimension) size = attribute.val.clusterDim.x;
  }
  *clusters = multiprocessors / static_cast<int>(size);
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* /*kernel*/,
                                                          int /*threads*/, std::size_t /*shared*/) {
  *blocks = 2;
  return cudaSuccess;
}

}  // extern "C"
