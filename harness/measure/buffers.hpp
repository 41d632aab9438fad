// The buffers of a row: views of one arena of random inputs per format and of one arena of outputs,
// so that a rotation over many sets costs one fill; where memory is short, inputs of a format are
// filled again. Outputs lie between guard zones.
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

  // Sets needed so that a line is reused only after the device's rotation_bytes() of other traffic;
  // at most kMaxSets, and no more than half of the memory.
  [[nodiscard]] std::int64_t sets_to_rotate(std::span<const Operand> operands) const;
  // Whether so many sets come round while the caches may still hold some of them.
  [[nodiscard]] bool rotation_is_short(std::span<const Operand> operands, std::int64_t sets) const;

  // Bytes of device memory that `count` sets take from the arenas.
  static double footprint(std::span<const Operand> operands, std::int64_t count);

  // Disjoint sets with the same inputs for every technique of an operation. They stay valid until
  // the next call, which finds room for `later` sets of the same operands. Throws OutOfMemory.
  std::vector<BufferSet> allocate(std::span<const Operand> operands, std::int64_t count,
                                  std::int64_t later = 0);

  // Whether a set would fit if what is held were freed.
  [[nodiscard]] bool in_the_way(std::span<const Operand> operands) const;

  // Fills the outputs with NaN.
  void poison();

  // False if a byte of a guard zone changed since poison().
  [[nodiscard]] bool guards_intact();

 private:
  struct Arena {
    std::shared_ptr<void> memory;
    std::size_t bytes = 0;
    std::size_t filled = 0;  // bytes, from the first, with inputs or with what kernels wrote
  };

  // Of one set, by format of inputs and of the output.
  struct Bytes {
    std::array<std::size_t, kFormats.size()> inputs{};
    std::size_t output = 0;
  };

  [[nodiscard]] double held_bytes() const;
  [[nodiscard]] double available_bytes() const { return held_bytes() + device_->free_bytes(); }
  // Frees the inputs of other formats where these sets would not fit beside them.
  void make_room(const Bytes& of_set, std::size_t sets);
  // At least `bytes`; as many as `roomy` where the arena must grow and the memory allows it.
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

// More would help nobody: sets so small that these fit into a cache are done before a launch is.
inline constexpr std::int64_t kMaxSets = 4096;

}  // namespace ridgebench
