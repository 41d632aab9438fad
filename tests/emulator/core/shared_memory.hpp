// Shared memory of a block: static arrays, which are C++'s own, and dynamic memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/emulator/hopper/async_proxy.hpp"

namespace ridgebench::emulator {

// The most that static arrays, or a launch without leave, may have; and with leave, on compute
// capability 9.0. Source: CUDA C++ Programming Guide, "Technical Specifications".
inline constexpr std::size_t kMostStaticBytes = std::size_t{48} << 10U;
inline constexpr std::size_t kMostDynamicBytes = std::size_t{227} << 10U;

class SharedMemory {
 public:
  SharedMemory(std::size_t dynamic_bytes, std::size_t threads, bool alone);

  // A static array and the alignment that its declaration asks for: NaN at its first use by the
  // block.
  void enter(void* array, std::size_t bytes, std::size_t alignment);
  // The dynamic memory, NaN at the block's start, aligned as its declaration asks and no better.
  std::byte* dynamic(std::size_t alignment);

  // Address of shared memory as PTX sees it, and back; faults where [address, + bytes) is not
  // within one array.
  [[nodiscard]] std::uint32_t address(const void* pointer) const;
  [[nodiscard]] std::byte* pointer(std::uint32_t address, std::size_t bytes) const;

  [[nodiscard]] AsyncProxy& async_proxy() { return async_proxy_; }

  // The block ends: faults where it wrote next to its dynamic memory.
  void finish() const;

 private:
  struct Array {
    std::span<std::byte> bytes;
    std::uint32_t address;
  };

  [[nodiscard]] std::span<std::byte> usable();

  bool alone_;  // no other block runs at the same time
  std::size_t dynamic_bytes_;
  std::vector<std::byte> memory_;
  std::size_t alignment_ = 0;  // of the dynamic memory; 0: not declared yet
  std::vector<Array> arrays_;
  AsyncProxy async_proxy_;
};

}  // namespace ridgebench::emulator
