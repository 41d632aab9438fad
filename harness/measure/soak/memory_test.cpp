#include "harness/measure/soak/memory_test.hpp"

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr std::size_t kSmallest = std::size_t{1} << 20U;  // bytes worth a test

}  // namespace

MemoryTest::MemoryTest(Device& device, double share, std::uint64_t seed)
    : device_(&device), seed_(seed) {
  auto bytes = static_cast<std::size_t>(share * device.free_bytes()) / kWordBytes * kWordBytes;
  while (bytes >= kSmallest && !memory_) {
    try {
      memory_ = device.queue().allocate(bytes);
    } catch (const OutOfMemory&) {
      bytes = bytes / 2 / kWordBytes * kWordBytes;
    }
  }
  if (memory_) region_ = {static_cast<std::byte*>(memory_.get()), bytes};
}

void MemoryTest::write_next() {
  constexpr auto kinds = names_of(PatternKind{}).names.size();
  pattern_ = {.kind = static_cast<PatternKind>(written_ % kinds), .seed = seed_ + written_ / kinds};
  ++written_;
  device_->memory().write_pattern(region_, *pattern_);
}

WrongBits MemoryTest::compare() { return device_->memory().compare(region_, *pattern_); }

}  // namespace ridgebench
