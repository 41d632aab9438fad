// What TMA and wgmma, the asynchronous proxy, see of a block's shared memory: what threads write is
// theirs only after fence.proxy.async. Source: PTX ISA, "Proxies".
//
// Two nets catch what lacks the fence. What stmatrix and cp.async write is kept for each thread
// until the thread fences. What plain stores write cannot be seen; but what differs from what the
// proxy saw last, while no thread has fenced since, was surely not published.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ridgebench::emulator {

class AsyncProxy {
 public:
  // `memory` is the dynamic shared memory; plain stores to static arrays go unnoticed.
  AsyncProxy(std::span<const std::byte> memory, std::size_t threads);

  // A thread wrote by an instruction that the emulator executes.
  void thread_wrote(unsigned thread, const std::byte* at, std::size_t bytes);
  void fence(unsigned thread);

  // The proxy itself wrote; and what it is about to read. At most 16 bytes, none across a multiple
  // of 16 in shared memory. Faults where they are not published.
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
  std::vector<std::byte> seen_;       // what the proxy saw last
  std::vector<std::uint32_t> since_;  // how many fences there had been then, of each chunk
  std::uint32_t fences_ = 0;
  std::vector<std::vector<std::span<const std::byte>>> unfenced_;  // of each thread
  std::size_t unfenced_count_ = 0;
};

}  // namespace ridgebench::emulator
