// Copies to the memory of another GPU, whose number is the attribute `peer`. The GPU that holds the
// numbers writes them by its copy engine, over NVLink where the two are linked, else over PCIe. The
// limit is that link.
#include "kernels/transfer/take.cuh"

namespace ridgebench::cuda::transfer_peer {

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device));
  return device;
}

// Lets `device`, the current one, reach the memory of `peer`. Throws Unsupported where it cannot:
// the driver would copy through the host.
void enable_access(int device, int peer) {
  int possible = 0;
  check(cudaDeviceCanAccessPeer(&possible, device, peer));
  if (possible == 0) {
    throw Unsupported("cuda:" + std::to_string(device) +
                      " cannot access the memory of cuda:" + std::to_string(peer));
  }
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status != cudaErrorPeerAccessAlreadyEnabled) check(status);
  static_cast<void>(cudaGetLastError());
}

// Memory of `peer`. `device` is the current one, before and after.
std::shared_ptr<float> memory_of(int peer, int device, Queue& queue, std::size_t bytes) {
  check(cudaSetDevice(peer));
  std::shared_ptr<void> memory;
  try {
    memory = queue.allocate(bytes);
  } catch (...) {
    static_cast<void>(cudaSetDevice(device));
    throw;
  }
  check(cudaSetDevice(device));
  return std::static_pointer_cast<float>(memory);
}

Launch bind(Queue& queue, const Shape& shape, const float* x, float* taken) {
  const int device = current_device();
  const int peer = static_cast<int>(shape.attribute("peer"));
  enable_access(device, peer);
  const std::size_t bytes = bytes_of(shape);
  return
      [=, n = shape["n"], to = memory_of(peer, device, queue, bytes), stream = stream_of(queue)] {
        check(cudaMemcpyPeerAsync(to.get(), peer, x, device, bytes, stream));
        take(to.get(), n, taken, stream);
      };
}

std::optional<std::string> supports(const Machine& machine, const Shape& shape, FormatPair) {
  return peer_limit(machine, shape);
}

const Registration direct{
    {.operation = "copy_to_peer", .name = "direct", .engine = Engine::memory, .supports = supports},
    bind};

}  // namespace ridgebench::cuda::transfer_peer
