// Shared memory of a block: static arrays, which are C++ variables, and dynamic memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/emulator/hopper/async_proxy.hpp"

namespace ridgebench::emulator {

// Limits for static arrays and for launches without the attribute for more; and with it, on compute
// capability 9.0. Source: CUDA C++ Programming Guide, "Technical Specifications".
inline constexpr std::size_t kMostStaticBytes = std::size_t{48} << 10U;
inline constexpr std::size_t kMostDynamicBytes = std::size_t{227} << 10U;

class SharedMemory {
 public:
  SharedMemory(std::size_t dynamic_bytes, std::size_t threads, bool alone);

  // A static array and the alignment of its declaration. It holds NaN when the block first uses it.
  void enter(void* array, std::size_t bytes, std::size_t alignment);
  // The dynamic memory, NaN at the block's start, aligned exactly as declared.
  std::byte* dynamic(std::size_t alignment);

  // Converts to and from PTX addresses of shared memory; faults where [address, address + bytes)
  // is not within one array.
  [[nodiscard]] std::uint32_t address(const void* pointer) const;
  [[nodiscard]] std::byte* pointer(std::uint32_t address, std::size_t bytes) const;

  [[nodiscard]] AsyncProxy& async_proxy() { return async_proxy_; }

  // Called when the block ends: faults where it wrote outside its dynamic memory.
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
