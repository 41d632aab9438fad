// A device's memory: filled, set, read and compared in bulk, because a GPU's memory is slow to
// reach from the host. Every call waits until it is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include "harness/device/pages.hpp"
#include "harness/device/wrong_bits.hpp"
#include "kernels/common/format.hpp"
#include "kernels/common/random.hpp"

namespace ridgebench {

// Host memory of undefined content. It grows by resize(), which drops the content and throws
// std::bad_alloc if the host has too little memory.
class HostBuffer {
 public:
  std::byte* resize(std::size_t bytes) {
    if (bytes > bytes_) {
      bytes_ = 0;
      data_.reset();
      // malloc() writes nothing. NOLINTNEXTLINE(cppcoreguidelines-no-malloc)
      data_ = bytes < kHugePage ? std::shared_ptr<void>(std::malloc(bytes), std::free)
                                : map_pages(bytes);
      if (data_ == nullptr) throw std::bad_alloc();
      bytes_ = bytes;
    }
    return static_cast<std::byte*>(data_.get());
  }
  [[nodiscard]] const std::byte* data() const { return static_cast<std::byte*>(data_.get()); }

 private:
  std::shared_ptr<void> data_;
  std::size_t bytes_ = 0;
};

class DeviceMemory {
 public:
  using Region = std::span<std::byte>;

  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;  // tied to its device
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  virtual ~DeviceMemory() = default;

  // Writes random numbers (kernels/common/random.hpp).
  virtual void fill(void* out, std::int64_t elements, Format format, const RandomStream& from) = 0;
  // Copies bytes of the host to `out`.
  virtual void write(void* out, std::span<const std::byte> bytes) = 0;
  // Sets every byte of every region, as memset does.
  virtual void set(std::span<const Region> regions, unsigned char value) = 0;
  // True if every byte of every region has that value.
  [[nodiscard]] virtual bool holds(std::span<const Region> regions, unsigned char value) = 0;
  // The regions, one behind the other, in host memory: a copy in `scratch`, or a single region in
  // place where the host can read it. Valid until either changes.
  [[nodiscard]] virtual const std::byte* on_host(std::span<const Region> regions,
                                                 HostBuffer& scratch) = 0;
  [[nodiscard]] virtual bool has_nan(const void* data, std::int64_t elements, Format format) = 0;
  // Equal for equal bytes; different, almost surely, after a change of any byte.
  [[nodiscard]] virtual std::uint64_t checksum(Region region) = 0;
  // Largest |x - y| / (absolute + relative |y|) over all elements; equal elements count 0, a NaN
  // infinite.
  [[nodiscard]] virtual double largest_difference(const void* x, const void* y,
                                                  std::int64_t elements, Format format,
                                                  double absolute, double relative) = 0;
  // The words of `found` that differ from those of `expected`, a region of the same size.
  [[nodiscard]] virtual WrongBits compare(Region found, Region expected) = 0;
  // Writes the words of a pattern to a region of whole words, and finds those that differ from it.
  virtual void write_pattern(Region region, const MemoryPattern& pattern) = 0;
  [[nodiscard]] virtual WrongBits compare(Region found, const MemoryPattern& expected) = 0;
};

}  // namespace ridgebench
