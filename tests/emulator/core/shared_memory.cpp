#include "tests/emulator/core/shared_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tests/emulator/emulator.hpp"

namespace ridgebench::emulator {
namespace {

// Least distance between shared arrays in PTX addresses, and from address 0.
constexpr std::size_t kGap = 0x1000;

// Dynamic memory starts after what the system reserves; kernels cannot rely on more alignment.
constexpr std::size_t kSystemBytes = 1024;
constexpr std::size_t kMostAlignment = 1024;

constexpr std::byte kNan{0xFF};
constexpr std::byte kGuard{0xA5};
constexpr std::size_t kGuardBytes = 1024;
// Space in front, so that the alignment is no better than the declaration requires.
constexpr std::size_t kSlack = 2 * kMostAlignment;

}  // namespace

SharedMemory::SharedMemory(std::size_t dynamic_bytes, std::size_t threads, bool alone)
    : alone_(alone),
      dynamic_bytes_(dynamic_bytes),
      memory_(dynamic_bytes == 0 ? 0 : 2 * kSlack + dynamic_bytes + kGuardBytes, kNan),
      async_proxy_(usable(), threads) {}

// Starts at a multiple of kSlack, so that addresses modulo kSlack equal PTX addresses.
std::span<std::byte> SharedMemory::usable() {
  const auto misaligned = reinterpret_cast<std::uintptr_t>(memory_.data()) % kSlack;
  return memory_.empty() ? std::span<std::byte>() : std::span(memory_).subspan(kSlack - misaligned);
}

std::byte* SharedMemory::dynamic(std::size_t alignment) {
  if (dynamic_bytes_ == 0) fault("uses dynamic shared memory, of which the launch has none");
  if (alignment > kMostAlignment) fault("dynamic shared memory aligned better than to 1024");
  if (alignment_ == 0) {
    alignment_ = alignment;
    const std::size_t address =
        kSystemBytes + (alignment == kMostAlignment ? 0 : std::max<std::size_t>(alignment, 16));
    const std::span<std::byte> bytes = usable().subspan(address % kSlack, dynamic_bytes_);
    std::fill_n(bytes.data() + bytes.size(), kGuardBytes, kGuard);
    arrays_.insert(arrays_.begin(), {bytes, static_cast<std::uint32_t>(address)});
  }
  if (alignment > alignment_) fault("declares dynamic shared memory with different alignments");
  return arrays_.front().bytes.data();
}

void SharedMemory::finish() const {
  if (alignment_ == 0) return;
  const std::span<std::byte> bytes = arrays_.front().bytes;
  const std::span<const std::byte> guard(bytes.data() + bytes.size(), kGuardBytes);
  if (std::ranges::any_of(guard, [](std::byte b) { return b != kGuard; })) {
    fault("has written beyond its dynamic shared memory");
  }
}

void SharedMemory::enter(void* array, std::size_t bytes, std::size_t alignment) {
  auto* const first = static_cast<std::byte*>(array);
  std::size_t total = bytes;
  std::size_t end = kSystemBytes + kMostAlignment + dynamic_bytes_;
  for (const Array& known : arrays_) {
    if (known.bytes.data() == first) return;
    if (alignment_ != 0 && &known == &arrays_.front()) continue;
    total += known.bytes.size();
    end = std::max(end, known.address + known.bytes.size());
  }
  if (!alone_) fault("a static shared array in a cluster, which the emulator shares among blocks");
  if (total > kMostStaticBytes) fault(fmt::format("{} bytes of shared memory", total));
  if (total + dynamic_bytes_ > kMostDynamicBytes) fault("too much static and dynamic memory");
  std::memset(array, 0xFF, bytes);
  // No better aligned than declared, and not adjacent to another array: kernels must not rely on
  // either.
  const std::size_t step = std::max(2 * alignment, kGap);
  const std::size_t address = (end / step + 1) * step + alignment;
  arrays_.push_back({{first, bytes}, static_cast<std::uint32_t>(address)});
}

std::uint32_t SharedMemory::address(const void* pointer) const {
  for (const Array& array : arrays_) {
    const std::ptrdiff_t offset = static_cast<const std::byte*>(pointer) - array.bytes.data();
    if (offset >= 0 && offset <= std::ssize(array.bytes)) {
      return array.address + static_cast<std::uint32_t>(offset);
    }
  }
  fault("takes the shared address of what is not shared memory");
}

std::byte* SharedMemory::pointer(std::uint32_t address, std::size_t bytes) const {
  for (const Array& array : arrays_) {
    if (address >= array.address && address + bytes <= array.address + array.bytes.size()) {
      return &array.bytes[address - array.address];
    }
  }
  fault(fmt::format("accesses {} bytes at shared address {:#x}, outside every shared array", bytes,
                    address));
}

}  // namespace ridgebench::emulator
