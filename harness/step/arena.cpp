#include "harness/step/arena.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "roofline/plan/step_memory.hpp"

namespace ridgebench {

std::int64_t Arena::allocate(std::int64_t bytes, const std::string& kind) {
  if (bytes <= 0) throw std::logic_error("an arena's block needs at least a byte");
  const std::int64_t rounded = rounded_tensor_bytes(bytes);
  const std::int64_t offset = take(rounded);
  blocks_.emplace(offset, Block{rounded, kind});
  live_[kind] += rounded;
  live_bytes_ += rounded;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  extent_bytes_ = std::max(extent_bytes_, end_);
  return offset;
}

void Arena::release(std::int64_t offset) {
  const auto block = blocks_.find(offset);
  if (block == blocks_.end()) throw std::logic_error("no block of the arena begins there");
  const std::int64_t bytes = block->second.bytes;
  live_[block->second.kind] -= bytes;
  live_bytes_ -= bytes;
  blocks_.erase(block);
  give_back(offset, bytes);
}

std::int64_t Arena::take(std::int64_t bytes) {
  const auto fits = [&](const auto& gap) { return gap.second >= bytes; };
  const auto gap = std::ranges::find_if(gaps_, fits);
  if (gap == gaps_.end()) return std::exchange(end_, end_ + bytes);
  const auto [offset, room] = *gap;
  gaps_.erase(gap);
  if (room > bytes) gaps_.emplace(offset + bytes, room - bytes);
  return offset;
}

void Arena::give_back(std::int64_t offset, std::int64_t bytes) {
  const auto after = gaps_.find(offset + bytes);
  if (after != gaps_.end()) {
    bytes += after->second;
    gaps_.erase(after);
  }
  const auto next = gaps_.lower_bound(offset);
  if (next != gaps_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      gaps_.erase(before);
    }
  }
  if (offset + bytes == end_) {
    end_ = offset;
  } else {
    gaps_.emplace(offset, bytes);
  }
}

}  // namespace ridgebench
