#include "tests/emulator/hopper/mbarrier.hpp"

#include <fmt/format.h>

#include <cstring>

#include "tests/emulator/core/shared_memory.hpp"
#include "tests/emulator/emulator.hpp"

namespace ridgebench::emulator {
namespace {

constexpr std::uint64_t kMark = 0x7265697272616200;  // a real barrier's bits are opaque
constexpr std::int64_t kMostArrivals = (1 << 20) - 1;
constexpr std::int64_t kMostBytes = (1 << 20) - 1;

}  // namespace

void MBarriers::init(std::uint32_t address, std::int64_t count, unsigned thread) {
  if (address % sizeof kMark != 0) fault("an mbarrier that is not aligned to 8 bytes");
  if (count < 1 || count > kMostArrivals) {
    fault(fmt::format("an mbarrier for {} arrivals", count));
  }
  if (barriers_.contains(address)) fault("initialises an mbarrier that is one already");
  std::memcpy(shared_.pointer(address, sizeof kMark), &kMark, sizeof kMark);
  const auto arrivals = static_cast<std::uint32_t>(count);
  barriers_[address] = {.count = arrivals,
                        .pending = arrivals,
                        .bytes = 0,
                        .phase = 0,
                        .by = thread,
                        .published = false};
}

void MBarriers::publish(unsigned thread) {
  for (auto& [address, barrier] : barriers_) {
    if (barrier.by == thread) barrier.published = true;
  }
}

MBarrier& MBarriers::at(std::uint32_t address, bool from_afar) {
  const auto found = barriers_.find(address);
  if (found == barriers_.end()) {
    fault(fmt::format("no mbarrier was initialised at shared address {:#x}", address));
  }
  if (std::memcmp(shared_.pointer(address, sizeof kMark), &kMark, sizeof kMark) != 0) {
    fault(fmt::format("the mbarrier at shared address {:#x} was overwritten", address));
  }
  if (from_afar && !found->second.published) {
    fault("uses an mbarrier of whose initialisation fence.mbarrier_init did not tell");
  }
  return found->second;
}

bool MBarriers::end_phase(MBarrier& barrier) {
  if (barrier.pending > 0 || barrier.bytes != 0) return false;
  ++barrier.phase;
  barrier.pending = barrier.count;
  return true;
}

bool MBarriers::arrive(std::uint32_t address, const Thread* from_afar) {
  MBarrier& barrier = at(address, from_afar != nullptr);
  if (barrier.pending == 0) {
    fault(fmt::format("arrives at an mbarrier more often than the {} times of its phase",
                      barrier.count));
  }
  --barrier.pending;
  if (from_afar != nullptr) under_way_.push_back({from_afar, address, barrier.phase});
  return end_phase(barrier);
}

void MBarriers::seen(std::uint32_t address) {
  const std::uint64_t phase = at(address).phase;
  std::erase_if(under_way_, [&](const FarArrival& arrival) {
    return arrival.address == address && arrival.phase < phase;
  });
}

void MBarriers::released(const Thread* thread) {
  std::erase_if(under_way_, [&](const FarArrival& arrival) { return arrival.by == thread; });
}

void MBarriers::finish() const {
  if (!under_way_.empty()) fault("ends while an arrival of another block may be under way");
}

void MBarriers::add_bytes(MBarrier& barrier, std::int64_t bytes) {
  barrier.bytes += bytes;
  if (barrier.bytes > kMostBytes || barrier.bytes < -kMostBytes) {
    fault(
        fmt::format("an mbarrier that waits for {} bytes: more than it can count", barrier.bytes));
  }
}

void MBarriers::expect(std::uint32_t address, std::int64_t bytes) { add_bytes(at(address), bytes); }

bool MBarriers::complete(std::uint32_t address, std::int64_t bytes) {
  MBarrier& barrier = at(address, true);
  add_bytes(barrier, -bytes);
  return end_phase(barrier);
}

std::string MBarriers::text(std::uint32_t address, unsigned parity) {
  const MBarrier& barrier = at(address);
  return fmt::format(
      "parity {} of the mbarrier at {:#x}, whose phase {} lacks {} arrivals and {} "
      "bytes",
      parity, address, barrier.phase, barrier.pending, barrier.bytes);
}

}  // namespace ridgebench::emulator
