// The buffers of a case: views of one arena of random inputs per format and of one arena of
// outputs, so that a rotation over many sets costs one fill. Where memory is short, inputs of a
// format are filled again. Outputs lie between guard zones.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "harness/device/device.hpp"
#include "kernels/common/operation.hpp"

namespace ridgebench {

// One pointer per operand, in the operation's order.
using BufferSet = std::vector<void*>;

class Buffers {
 public:
  Buffers(Device& device, Fill fill, std::uint64_t seed);

  // Sets after which the device's rotation_bytes() of other traffic have passed between two uses of
  // a cache line; at most kMaxSets, and no more than half of the memory.
  [[nodiscard]] std::int64_t sets_to_rotate(std::span<const Operand> operands) const;
  // Whether a rotation over `sets` sets ends while the caches may still hold the first of them.
  [[nodiscard]] bool rotation_is_short(std::span<const Operand> operands, std::int64_t sets) const;

  // Bytes of device memory that `count` sets take from the arenas.
  static double footprint(std::span<const Operand> operands, std::int64_t count);

  // `count` disjoint sets with the same inputs for every technique of an operation. They stay valid
  // until the next call, for which the arenas get room for `later` sets of the same operands.
  // Throws OutOfMemory.
  std::vector<BufferSet> allocate(std::span<const Operand> operands, std::int64_t count,
                                  std::int64_t later = 0);

  // Whether one set would fit if the arenas were freed.
  [[nodiscard]] bool in_the_way(std::span<const Operand> operands) const;

  // Fills the outputs with NaN.
  void poison();

  // False if a byte of a guard zone changed since poison().
  [[nodiscard]] bool guards_intact();

 private:
  struct Arena {
    std::shared_ptr<void> memory;
    std::size_t bytes = 0;
    std::size_t filled = 0;  // leading bytes that hold inputs, or that kernels wrote
  };

  // Bytes of one set: its inputs by format, and its output.
  struct Bytes {
    std::array<std::size_t, kFormats.size()> inputs{};
    std::size_t output = 0;
  };

  // The next free byte of each arena.
  struct Cursors {
    std::array<std::byte*, kFormats.size()> inputs{};
    std::byte* output = nullptr;
  };

  std::vector<BufferSet> carve(std::span<const Operand> operands, std::size_t sets,
                               Cursors cursors);
  [[nodiscard]] double held_bytes() const;
  [[nodiscard]] double available_bytes() const { return held_bytes() + device_->free_bytes(); }
  // Frees the inputs of other formats where these sets would not fit next to them.
  void make_room(const Bytes& of_set, std::size_t sets);
  // Makes the arena at least `bytes` long; `roomy` where it must grow and the memory allows it.
  void reserve(Arena& arena, std::size_t bytes, std::size_t roomy);
  std::byte* inputs(Format format, std::size_t bytes, std::size_t roomy);

  Device* device_;
  Fill fill_;
  std::uint64_t seed_;
  std::array<Arena, kFormats.size()> inputs_;
  Arena outputs_;
  std::vector<DeviceMemory::Region> guards_;
  DeviceMemory::Region written_;
};

// Upper limit of a rotation. Sets of which these fit into a cache are so small that launch overhead
// dominates anyway.
inline constexpr std::int64_t kMaxSets = 4096;

}  // namespace ridgebench
