// A GPU's memory. All work runs in one stream.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <vector>

#include "harness/device/device_memory.hpp"

namespace ridgebench::memory_kernels {
struct Found;
}

namespace ridgebench {

class CudaMemory final : public DeviceMemory {
 public:
  explicit CudaMemory(cudaStream_t stream);

  void fill(void* out, std::int64_t elements, Format format, const RandomStream& from) override;
  void write(void* out, std::span<const std::byte> bytes) override;
  void set(std::span<const Region> regions, unsigned char value) override;
  [[nodiscard]] bool holds(std::span<const Region> regions, unsigned char value) override;
  [[nodiscard]] const std::byte* on_host(std::span<const Region> regions,
                                         HostBuffer& scratch) override;
  [[nodiscard]] bool has_nan(const void* data, std::int64_t elements, Format format) override;
  [[nodiscard]] std::uint64_t checksum(Region region) override;
  [[nodiscard]] double largest_difference(const void* x, const void* y, std::int64_t elements,
                                          Format format, double absolute, double relative) override;
  [[nodiscard]] WrongBits compare(Region found, Region expected) override;
  void write_pattern(Region region, const MemoryPattern& pattern) override;
  [[nodiscard]] WrongBits compare(Region found, const MemoryPattern& expected) override;

  // Enqueues a read of all bytes, which evicts what the caches held.
  void enqueue_read(const void* data, std::size_t bytes);

 private:
  std::uint64_t take_result();
  // The findings of the kernels that were enqueued with `found_`, which is reset.
  WrongBits take_wrong_bits();
  void upload(const void* data, std::size_t bytes);

  cudaStream_t stream_;
  std::shared_ptr<unsigned long long> result_;    // a kernel's finding, on the device
  std::shared_ptr<memory_kernels::Found> found_;  // wrong words, on the device
  std::shared_ptr<std::byte> staging_;            // pinned
  std::shared_ptr<std::byte> table_;  // a quantile table or a list of regions, on the device
  std::size_t table_bytes_ = 0;
};

}  // namespace ridgebench
