#include "harness/step/arena.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/common/ceil_div.hpp"

namespace ridgebench {

std::int64_t Arena::allocate(std::int64_t bytes, const std::string& kind) {
  if (bytes <= 0) throw std::logic_error("an arena's block needs at least a byte");
  const std::int64_t rounded = ceil_div(bytes, kArenaAlignment) * kArenaAlignment;
  std::int64_t offset = 0;
  for (const auto& [begin, block] : blocks_) {
    if (begin - offset >= rounded) break;
    offset = begin + block.bytes;
  }
  blocks_.emplace(offset, Block{rounded, kind});
  live_[kind] += rounded;
  live_bytes_ += rounded;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  extent_bytes_ = std::max(extent_bytes_, offset + rounded);
  return offset;
}

void Arena::release(std::int64_t offset) {
  const auto block = blocks_.find(offset);
  if (block == blocks_.end()) throw std::logic_error("no block of the arena begins there");
  live_[block->second.kind] -= block->second.bytes;
  live_bytes_ -= block->second.bytes;
  blocks_.erase(block);
}

}  // namespace ridgebench
