// Copies to and from page-locked memory of the host, which the GPU's copy engines read and write
// without the host's processor. Copies in both directions start together on two streams. The limit
// is the link between host and GPU, and for small copies the start of a copy.
#include "kernels/transfer/take.cuh"

namespace ridgebench::cuda::transfer_pinned {

std::shared_ptr<float> page_locked(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped));
  return {static_cast<float*>(memory), [](float* p) { static_cast<void>(cudaFreeHost(p)); }};
}

// Page-locked memory that holds the numbers of x, on the device.
std::shared_ptr<float> page_locked_copy(Queue& queue, const float* x, std::size_t bytes) {
  std::shared_ptr<float> copy = page_locked(bytes);
  check(cudaMemcpyAsync(copy.get(), x, bytes, cudaMemcpyDeviceToHost, stream_of(queue)));
  check(cudaStreamSynchronize(stream_of(queue)));
  return copy;
}

Launch bind_to_device(Queue& queue, const Shape& shape, const float* x, float* y) {
  const std::size_t bytes = bytes_of(shape);
  return [=, from = page_locked_copy(queue, x, bytes), stream = stream_of(queue)] {
    check(cudaMemcpyAsync(y, from.get(), bytes, cudaMemcpyHostToDevice, stream));
  };
}

Launch bind_to_host(Queue& queue, const Shape& shape, const float* x, float* taken) {
  const std::size_t bytes = bytes_of(shape);
  return [=, n = shape["n"], to = page_locked(bytes), stream = stream_of(queue)] {
    check(cudaMemcpyAsync(to.get(), x, bytes, cudaMemcpyDeviceToHost, stream));
    take(to.get(), n, taken, stream);
  };
}

using Stream = std::shared_ptr<CUstream_st>;
using Event = std::shared_ptr<CUevent_st>;

Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return {stream, cudaStreamDestroy};
}

Event make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return {event, cudaEventDestroy};
}

// Work that is enqueued to `second` from now on waits for the work in `first`.
void wait_for(cudaStream_t first, const Event& event, cudaStream_t second) {
  check(cudaEventRecord(event.get(), first));
  check(cudaStreamWaitEvent(second, event.get(), 0));
}

Launch bind_both_ways(Queue& queue, const Shape& shape, const float* x, float* taken) {
  const std::size_t bytes = bytes_of(shape);
  const std::int64_t n = shape["n"];
  const auto landed = std::static_pointer_cast<float>(queue.allocate(bytes));
  return
      [=, from = page_locked_copy(queue, x, bytes), to = page_locked(bytes),
       stream = stream_of(queue), other = make_stream(), fork = make_event(), join = make_event()] {
        wait_for(stream, fork, other.get());
        check(cudaMemcpyAsync(landed.get(), from.get(), bytes, cudaMemcpyHostToDevice, stream));
        check(cudaMemcpyAsync(to.get(), x, bytes, cudaMemcpyDeviceToHost, other.get()));
        wait_for(other.get(), join, stream);
        take(to.get(), n, taken, stream);
        take(landed.get(), n, taken + taken_of(n), stream);
      };
}

Technique technique(const std::string& operation) {
  return {.operation = operation, .name = "pinned", .engine = Engine::memory};
}

const Registration to_device{technique("copy_to_device"), bind_to_device};
const Registration to_host{technique("copy_to_host"), bind_to_host};
const Registration both_ways{technique("copy_both_ways"), bind_both_ways};

}  // namespace ridgebench::cuda::transfer_pinned
