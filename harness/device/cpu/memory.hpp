// The host's own memory.
#pragma once

#include "harness/device/device_memory.hpp"

namespace ridgebench {

// memcpy by all threads, because the kernel takes long to map pages that are touched first.
void copy_in_parallel(std::byte* to, const std::byte* from, std::size_t bytes);

class HostMemory final : public DeviceMemory {
 public:
  explicit HostMemory(int threads) : threads_(threads) {}

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

 private:
  int threads_;
};

}  // namespace ridgebench
