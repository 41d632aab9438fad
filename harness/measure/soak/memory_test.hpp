// Patterns over a large part of a device's memory. A pattern stays in memory while kernels heat the
// device, and is compared afterwards.
#pragma once

#include <memory>
#include <optional>

#include "harness/device/device.hpp"

namespace ridgebench {

class MemoryTest {
 public:
  // Takes `share` of the device's free memory, or half of it again and again where the device
  // refuses. Without memory it tests nothing.
  MemoryTest(Device& device, double share, std::uint64_t seed);

  [[nodiscard]] double bytes() const { return static_cast<double>(region_.size()); }
  [[nodiscard]] const void* data() const { return region_.data(); }
  // The pattern that memory holds.
  [[nodiscard]] const std::optional<MemoryPattern>& pattern() const { return pattern_; }

  // Writes the pattern after the one that memory holds.
  void write_next();
  [[nodiscard]] WrongBits compare();

 private:
  Device* device_;
  std::uint64_t seed_;
  std::shared_ptr<void> memory_;
  DeviceMemory::Region region_;
  std::optional<MemoryPattern> pattern_;
  std::uint64_t written_ = 0;
};

}  // namespace ridgebench
