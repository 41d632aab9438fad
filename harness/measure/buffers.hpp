// The buffers of a case are views of one arena of random inputs per format and of one arena of
// outputs. A rotation over many sets thus costs one fill. If memory is short, the class frees
// inputs of other formats and fills them again later. Outputs lie between guard zones, and so do
// inputs with values of their own: those that are updated in place or do not follow the run's fill.
// The elements between the rows of an output are a guard zone too.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "harness/device/device.hpp"
#include "kernels/common/operation.hpp"

namespace ridgebench {

// A set has one pointer per operand, in the operation's order.
using BufferSet = std::vector<void*>;

// The bytes of an operand that begins at `data`.
DeviceMemory::Region region_of(const Operand& operand, void* data);

// The bytes between the rows of an operand that begins at `data`, which no launch touches.
std::vector<DeviceMemory::Region> gaps_of(const Operand& operand, void* data);

// True for an input that no other operand can share.
bool has_own_values(const Operand& operand);

// Values of such an operand, number `position` of its operation, before a launch on buffer set
// `set` of a run with that fill and seed.
RandomStream own_values(const Operand& operand, std::size_t position, std::size_t set, Fill fill,
                        std::uint64_t seed);

// The bytes between two uses of a cache line that evict it: three times the last level, or a
// rotation of the device if that is shorter.
std::int64_t evicting_bytes(const Device& device);

class Buffers {
 public:
  // `shared`: in memory that the processes of own kernels map.
  Buffers(Device& device, Fill fill, std::uint64_t seed, bool shared = false);

  [[nodiscard]] bool shared() const { return shared_; }

  // Returns the number of sets with which the device moves rotation_bytes() between two uses of a
  // cache line. The limits are kMaxSets and half of the memory.
  [[nodiscard]] std::int64_t sets_to_rotate(std::span<const Operand> operands) const;
  // Returns true if the caches may still hold the first set when a rotation over `sets` sets ends.
  [[nodiscard]] bool rotation_is_short(std::span<const Operand> operands, std::int64_t sets) const;
  // Returns true if a rotation over `sets` sets moves fewer bytes than evicting_bytes(). This
  // holds for kMaxSets sets too.
  [[nodiscard]] bool caches_may_serve(std::span<const Operand> operands, std::int64_t sets) const;

  // Returns the bytes of device memory that `count` sets take from the arenas.
  static double footprint(std::span<const Operand> operands, std::int64_t count);

  // Returns `count` disjoint sets. Every technique of an operation gets the same inputs. The sets
  // are valid until the next call. The arenas reserve memory for `later` sets of the same operands.
  // Throws OutOfMemory.
  std::vector<BufferSet> allocate(std::span<const Operand> operands, std::int64_t count,
                                  std::int64_t later = 0);

  // Throws OutOfMemory if `count` sets do not fit. Callers check one set before a plan allocates
  // its own memory.
  void require_room(std::span<const Operand> operands, std::int64_t count = 1) const;

  // Bytes of the device that are free, or would be without the arenas.
  [[nodiscard]] double available_bytes() const { return held_bytes() + device_->free_bytes(); }

  // Returns true if one set fits once the arenas are freed.
  [[nodiscard]] bool in_the_way(std::span<const Operand> operands) const;

  // Fills the outputs with NaN and restores the inputs with values of their own.
  void reset();

  // Values of input `position` of a set before its launch.
  [[nodiscard]] RandomStream values(std::size_t set, std::size_t position) const;

  // Sums of the operands that launches only read, set by set.
  [[nodiscard]] std::vector<std::uint64_t> checksums() const;

  // Fills what earlier cases left in the arena of outputs with NaN.
  void forget_outputs();

  // Fills the inputs again before the next sets are allocated, because they were changed.
  void refill_inputs() {
    for (auto& [format, arena] : inputs_) arena.filled = 0;
  }

  // Fills regions with NaN.
  static void poison(DeviceMemory& memory, std::span<const DeviceMemory::Region> regions);
  // Makes guard zones of the gaps of outputs that were filled with NaN.
  static void guard_gaps(DeviceMemory& memory, std::span<const DeviceMemory::Region> gaps);

  [[nodiscard]] Fill fill() const { return fill_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  // Returns false if a byte of a guard zone changed since reset().
  [[nodiscard]] bool guards_intact();

 private:
  struct Arena {
    std::shared_ptr<void> memory;
    std::size_t bytes = 0;
    std::size_t filled = 0;  // leading bytes with inputs or with outputs of kernels
  };

  // Bytes of one set: its inputs by format, and what lies in the arena of outputs.
  struct Bytes {
    std::map<Format, std::size_t> inputs;
    std::size_t output = 0;
  };

  // The next free byte of each arena; carve() cuts the sets from there on.
  struct Cursors {
    std::map<Format, std::byte*> inputs;
    std::byte* output = nullptr;
  };

  std::vector<BufferSet> carve(std::size_t sets, Cursors cursors);
  [[nodiscard]] double held_bytes() const;
  // Frees the inputs of other formats if these sets do not fit next to them.
  void make_room(const Bytes& of_set, std::size_t sets);
  // Makes the arena at least `bytes` long. An arena that grows gets `roomy` bytes if they are free.
  void reserve(Arena& arena, std::size_t bytes, std::size_t roomy);
  [[nodiscard]] std::shared_ptr<void> allocate_arena(const Arena& arena, std::size_t bytes) const;
  std::byte* inputs(Format format, std::size_t bytes, std::size_t roomy);
  // The values of an arena of inputs from that byte on.
  [[nodiscard]] RandomStream shared_values(Format format, std::size_t first_byte) const;

  Device* device_;
  Fill fill_;
  std::uint64_t seed_;
  bool shared_;
  std::map<Format, Arena> inputs_;
  Arena outputs_;
  std::vector<DeviceMemory::Region> guards_;
  DeviceMemory::Region written_;
  std::vector<Operand> operands_;  // of the last call of allocate(), and its sets
  std::vector<BufferSet> sets_;
};

// Upper limit of a rotation. If this number of sets fits into a cache, the sets are so small that
// the launch overhead dominates.
inline constexpr std::int64_t kMaxSets = 4096;

}  // namespace ridgebench
