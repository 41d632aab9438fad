// Wrong bits that are injected on purpose, to measure how often a soak finds them: the memory of a
// simulated device, or of a host (`--device injected`), in which a comparison meets flipped bits.
// Only the tests' programs contain it. RIDGEBENCH_INJECT_FAULT=KIND:key=value,... chooses the
// fault:
//   once   one bit of one word, once, `after` seconds
//   stuck  bit `bit` of each word whose number is `lane` in every 16 words (128 bytes)
//   sm     one bit in the part of multiprocessor `unit` of `units`, in each comparison, and the
//   same
//          wrong bits in each checksum
//   hot    one bit in each comparison above `above` degrees Celsius
//   rate   each word with a probability of one in `one_in`
// Every kind takes `after` (seconds, default 0) and `seed`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "harness/device/device_memory.hpp"
#include "kernels/common/enum_names.hpp"

namespace ridgebench {

inline constexpr const char* kInjectedFaultVariable = "RIDGEBENCH_INJECT_FAULT";

enum class FaultKind : std::uint8_t { once, stuck, sm, hot, rate };
constexpr auto names_of(FaultKind) {
  return enum_names("fault", "once", "stuck", "sm", "hot", "rate");
}

struct InjectedFault {
  FaultKind kind = FaultKind::once;
  double after = 0;
  double lane = 0;
  double bit = 0;
  double unit = 0;
  double units = 1;
  double above = 60;
  double one_in = 1e9;
  double seed = 1;
};

// Throws UsageError that lists the kinds and the keys.
InjectedFault parse_fault(const std::string& text);
// That of the variable; empty if it is not set.
std::optional<InjectedFault> injected_fault();

class FaultyMemory final : public DeviceMemory {
 public:
  // Seconds since some moment, and degrees Celsius.
  using Reading = std::function<double()>;

  FaultyMemory(DeviceMemory& memory, const InjectedFault& fault, Reading now_s,
               Reading temperature_c);

  void fill(void* out, std::int64_t elements, Format format, const RandomStream& from) override {
    memory_->fill(out, elements, format, from);
  }
  void write(void* out, std::span<const std::byte> bytes) override { memory_->write(out, bytes); }
  void set(std::span<const Region> regions, unsigned char value) override {
    memory_->set(regions, value);
  }
  [[nodiscard]] bool holds(std::span<const Region> regions, unsigned char value) override {
    return memory_->holds(regions, value);
  }
  [[nodiscard]] const std::byte* on_host(std::span<const Region> regions,
                                         HostBuffer& scratch) override {
    return memory_->on_host(regions, scratch);
  }
  [[nodiscard]] bool has_nan(const void* data, std::int64_t elements, Format format) override {
    return memory_->has_nan(data, elements, format);
  }
  [[nodiscard]] std::uint64_t checksum(Region region) override;
  [[nodiscard]] double largest_difference(const void* x, const void* y, std::int64_t elements,
                                          Format format, double absolute,
                                          double relative) override {
    return memory_->largest_difference(x, y, elements, format, absolute, relative);
  }
  [[nodiscard]] WrongBits compare(Region found, Region expected) override;
  void write_pattern(Region region, const MemoryPattern& pattern) override {
    memory_->write_pattern(region, pattern);
  }
  [[nodiscard]] WrongBits compare(Region found, const MemoryPattern& expected) override;

  // Comparisons in which a bit was flipped.
  [[nodiscard]] std::int64_t flipped() const { return flipped_; }

 private:
  // Spoils the memory as the fault does at this moment.
  void spoil(Region region);
  void flip(Region region, std::uint64_t word);
  std::uint64_t below(std::uint64_t bound);

  DeviceMemory* memory_;
  Region whole_;  // of the last checksum that was not of a part of it
  InjectedFault fault_;
  Reading now_s_;
  Reading temperature_c_;
  double start_s_;
  std::mt19937_64 random_;
  bool done_ = false;
  double until_next_ = 0;  // words that the fault of a rate leaves right
  std::int64_t flipped_ = 0;
};

}  // namespace ridgebench
