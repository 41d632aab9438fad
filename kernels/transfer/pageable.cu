// Copies to and from memory of the host that is not page-locked, as malloc gives it. The driver
// copies it through page-locked memory of its own, and the host waits meanwhile. The limit is that
// copy by the host's processor, or the link.
#include <limits>
#include <vector>

#include "kernels/transfer/take.cuh"

namespace ridgebench::cuda::transfer_pageable {

// No pages are touched yet.
std::shared_ptr<float[]> pageable(const Shape& shape) {
  return std::shared_ptr<float[]>(new float[static_cast<std::size_t>(shape["n"])]);
}

Launch bind_to_device(Queue& queue, const Shape& shape, const float* x, float* y) {
  const std::size_t bytes = bytes_of(shape);
  const auto from = pageable(shape);
  check(cudaMemcpyAsync(from.get(), x, bytes, cudaMemcpyDeviceToHost, stream_of(queue)));
  check(cudaStreamSynchronize(stream_of(queue)));
  return [=, &queue, stream = stream_of(queue)] {
    queue.begin();
    check(cudaMemcpyAsync(y, from.get(), bytes, cudaMemcpyHostToDevice, stream));
  };
}

// A kernel cannot reach such memory: the host takes the numbers and returns them.
Launch bind_to_host(Queue& queue, const Shape& shape, const float* x, float* taken) {
  return [=, &queue, n = shape["n"], bytes = bytes_of(shape), to = pageable(shape),
          stream = stream_of(queue)] {
    queue.begin();
    check(cudaMemcpyAsync(to.get(), x, bytes, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < taken_of(n); ++i) {
      float& number = to[taken_at(i, n)];
      numbers.push_back(std::exchange(number, std::numeric_limits<float>::quiet_NaN()));
    }
    check(cudaMemcpyAsync(taken, numbers.data(), numbers.size() * sizeof(float),
                          cudaMemcpyHostToDevice, stream));
  };
}

Technique technique(const std::string& operation) {
  return {.operation = operation, .name = "pageable", .engine = Engine::memory};
}

const Registration to_device{technique("copy_to_device"), bind_to_device};
const Registration to_host{technique("copy_to_host"), bind_to_host};

}  // namespace ridgebench::cuda::transfer_pageable
