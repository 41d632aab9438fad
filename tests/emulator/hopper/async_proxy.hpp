// The view of a block's shared memory by TMA and wgmma, the async proxy: they see what a thread
// wrote only after its fence.proxy.async. Source: PTX ISA, "Proxies".
//
// Two checks find a missing fence. The emulator records what stmatrix and cp.async write until the
// thread fences. It does not see plain stores, but memory that differs from what the proxy saw last
// was not fenced if no thread has fenced since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ridgebench::emulator {

class AsyncProxy {
 public:
  // `memory` is the dynamic shared memory. Plain stores to static arrays are not checked.
  AsyncProxy(std::span<const std::byte> memory, std::size_t threads);

  // Called for writes by instructions that the emulator executes.
  void thread_wrote(unsigned thread, const std::byte* at, std::size_t bytes);
  void fence(unsigned thread);

  // Called for writes and reads by the proxy, of at most 16 bytes that do not cross a multiple of
  // 16 in shared memory. A read faults where a fence is missing.
  void wrote(const std::byte* at, std::size_t bytes);
  void reads(const std::byte* at, std::size_t bytes, std::string_view who);

 private:
  static constexpr std::size_t kChunk = 16;

  [[nodiscard]] bool is_ours(const std::byte* at) const {
    return at >= memory_.data() && at < memory_.data() + memory_.size();
  }
  [[nodiscard]] std::size_t chunk_of(const std::byte* at) const {
    return static_cast<std::size_t>(at - memory_.data()) / kChunk;
  }
  void synchronise(std::size_t chunk);

  std::span<const std::byte> memory_;
  std::vector<std::byte> seen_;       // the bytes that the proxy saw last
  std::vector<std::uint32_t> since_;  // number of fences at that time, of each chunk
  std::uint32_t fences_ = 0;
  std::vector<std::vector<std::span<const std::byte>>> unfenced_;  // of each thread
  std::size_t unfenced_count_ = 0;
};

}  // namespace ridgebench::emulator
