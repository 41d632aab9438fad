// An operand in memory that notices a write outside it, at any alignment that its elements allow.
// An input lies between NaNs: what is read outside it spoils the result. What lies between its rows
// (Operand::rows) is outside it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "kernels/common/operation.hpp"
#include "kernels/common/random.hpp"

namespace ridgebench {

class GuardedArray {
 public:
  static constexpr std::size_t kGuardBytes = 1024;  // at least, on either side

  // `offset` elements past a 64-byte boundary.
  GuardedArray(const Operand& operand, std::int64_t offset)
      : operand_(operand),
        bytes_(static_cast<std::size_t>(operand.bytes())),
        guard_(operand.access == Access::read ? kNan : kGuard) {
    memory_.assign(bytes_ + 2 * kGuardBytes + 2 * kLineBytes, guard_);
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(memory_.data()) % kLineBytes;
    first_ = kGuardBytes + kLineBytes - misaligned +
             static_cast<std::size_t>(offset * info(operand.format).storage_bytes) % kLineBytes;
  }

  [[nodiscard]] void* data() { return memory_.data() + first_; }
  [[nodiscard]] View view() { return {data(), operand_.format}; }
  [[nodiscard]] const Operand& operand() const { return operand_; }

  // With the operand's own values, if it has any.
  void fill(Fill fill, std::uint32_t stream) {
    constexpr std::uint64_t kSeed = 1;
    fill_random(data(), operand_.elements, operand_.format,
                {.fill = fill, .values = operand_.values, .seed = kSeed, .stream = stream}, 1);
    guard_gaps();
  }
  // The other one has the same operand.
  void copy_from(GuardedArray& other) { std::memcpy(data(), other.data(), bytes_); }

  void poison() {
    std::fill_n(memory_.begin() + position(first_), bytes_, kNan);
    guard_gaps();
  }
  void set_nan(std::int64_t index) {
    const auto width = static_cast<std::size_t>(info(operand_.format).storage_bytes);
    std::fill_n(memory_.begin() + position(first_ + static_cast<std::size_t>(index) * width), width,
                kNan);
  }

  [[nodiscard]] bool guards_hold() const {
    const auto untouched = [this](std::uint8_t byte) { return byte == guard_; };
    return std::all_of(memory_.begin(), memory_.begin() + position(first_), untouched) &&
           std::all_of(memory_.begin() + position(first_ + bytes_), memory_.end(), untouched) &&
           std::ranges::all_of(gaps(), [&](std::span<const std::uint8_t> gap) {
             return std::ranges::all_of(gap, untouched);
           });
  }

  // What lies between the rows.
  [[nodiscard]] std::vector<std::span<const std::uint8_t>> gaps() const {
    const auto& [length, stride] = operand_.rows;
    const std::int64_t size = info(operand_.format).storage_bytes;
    std::vector<std::span<const std::uint8_t>> gaps;
    for (std::int64_t at = length; stride > 0 && at < operand_.elements; at += stride) {
      gaps.emplace_back(memory_.data() + first_ + at * size,
                        static_cast<std::size_t>((stride - length) * size));
    }
    return gaps;
  }

  // The rows one after the other, in `copy` where something lies between them.
  [[nodiscard]] View rows(std::vector<std::uint8_t>& copy) {
    const auto& [length, stride] = operand_.rows;
    if (stride == 0) return view();
    const std::int64_t size = info(operand_.format).storage_bytes;
    copy.clear();
    for (std::int64_t at = 0; at < operand_.elements; at += stride) {
      const auto row = memory_.begin() + position(first_) + at * size;
      copy.insert(copy.end(), row, row + length * size);
    }
    return {copy.data(), operand_.format};
  }

 private:
  static constexpr std::size_t kLineBytes = 64;
  static constexpr std::uint8_t kGuard = 0xA5;
  static constexpr std::uint8_t kNan = 0xFF;  // all ones is NaN in every format

  void guard_gaps() {
    for (const auto gap : gaps()) {
      std::fill_n(memory_.begin() + (gap.data() - memory_.data()), gap.size(), guard_);
    }
  }

  static std::ptrdiff_t position(std::size_t byte) { return static_cast<std::ptrdiff_t>(byte); }

  Operand operand_;
  std::size_t bytes_;
  std::uint8_t guard_;
  std::size_t first_ = 0;
  std::vector<std::uint8_t> memory_;
};

}  // namespace ridgebench
