#include "tests/emulator/hopper/async_proxy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tests/emulator/emulator.hpp"

namespace ridgebench::emulator {

AsyncProxy::AsyncProxy(std::span<const std::byte> memory, std::size_t threads)
    : memory_(memory),
      seen_(memory.begin(), memory.end()),
      since_((memory.size() + kChunk - 1) / kChunk),
      unfenced_(threads) {}

void AsyncProxy::thread_wrote(unsigned thread, const std::byte* at, std::size_t bytes) {
  unfenced_[thread].emplace_back(at, bytes);
  ++unfenced_count_;
}

void AsyncProxy::fence(unsigned thread) {
  ++fences_;
  unfenced_count_ -= unfenced_[thread].size();
  unfenced_[thread].clear();
}

void AsyncProxy::synchronise(std::size_t chunk) {
  const std::size_t first = chunk * kChunk;
  std::memcpy(&seen_[first], &memory_[first], std::min(kChunk, memory_.size() - first));
  since_[chunk] = fences_;
}

void AsyncProxy::wrote(const std::byte* at, std::size_t bytes) {
  if (bytes > 0 && is_ours(at)) synchronise(chunk_of(at));
}

void AsyncProxy::reads(const std::byte* at, std::size_t bytes, std::string_view who) {
  if (unfenced_count_ > 0) {
    for (std::size_t i = 0; i < unfenced_.size(); ++i) {
      const bool meets = std::ranges::any_of(unfenced_[i], [&](std::span<const std::byte> written) {
        return at < written.data() + written.size() && written.data() < at + bytes;
      });
      if (meets) {
        fault(fmt::format("{} of shared memory that thread {} wrote without fence.proxy.async", who,
                          i));
      }
    }
  }
  if (!is_ours(at)) return;
  const std::size_t chunk = chunk_of(at);
  if (std::memcmp(at, &seen_[static_cast<std::size_t>(at - memory_.data())], bytes) == 0) return;
  if (since_[chunk] == fences_) {
    fault(fmt::format("{} of shared memory written without fence.proxy.async", who));
  }
  synchronise(chunk);
}

}  // namespace ridgebench::emulator
