#include "harness/measure/buffers.hpp"

#include <algorithm>
#include <iterator>

#include "harness/device/isolated/shared_memory.hpp"
#include "kernels/common/ceil_div.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// Alignment of every operand. cudaMalloc aligns by as much, and any vector load accepts it.
constexpr std::size_t kAlignment = 256;
// Bytes of the guard zone before and after every output. A power of two would slow a CPU down: a
// load waits for an earlier store if their addresses agree in the low 12 bits (4K aliasing).
constexpr std::size_t kGuard = 5 * kAlignment;
constexpr std::size_t kCacheLine = 64;
constexpr unsigned char kGuardByte = 0xA5;
constexpr unsigned char kPoisonByte = 0xFF;  // NaN in every format

// Returns the bytes of a view and of the guard zone after it. An input has a gap instead.
std::size_t room(const Operand& operand) {
  return round_up(static_cast<std::size_t>(operand.bytes()), kAlignment) + kGuard;
}

// Returns the bytes of an operand that a launch touches, in whole cache lines. Gaps between rows
// and elements that no launch needs do not evict what the caches hold.
std::size_t bytes_touched(const Operand& operand) {
  const auto& [length, stride] = operand.rows;
  if (stride == 0) return round_up(static_cast<std::size_t>(operand.used_bytes()), kCacheLine);
  const std::int64_t size = info(operand.format).storage_bytes;
  const std::int64_t of_row =
      std::min(stride * size, round_up(length * size, static_cast<std::int64_t>(kCacheLine)));
  return round_up(static_cast<std::size_t>(operand.elements / stride * of_row), kCacheLine);
}

// The same of one set.
std::int64_t bytes_touched(std::span<const Operand> operands) {
  std::size_t touched = 0;
  for (const Operand& operand : operands) touched += bytes_touched(operand);
  return static_cast<std::int64_t>(touched);
}

// Bytes of the list that gaps_of() returns, which guards of an output keep on the host. With rows
// of one element it is longer than the operand.
double bytes_of_gap_list(const Operand& operand) {
  const auto& [length, stride] = operand.rows;
  if (!operand.is_output() || stride <= length) return 0;
  return static_cast<double>(operand.elements / stride) * sizeof(DeviceMemory::Region);
}

// True if an operand lies in the arena of outputs.
bool is_apart(const Operand& operand) { return operand.is_output() || has_own_values(operand); }

// First of the streams of inputs with values of their own; one of each position.
constexpr std::uint32_t kOwnStreams = 0x80000000;

}  // namespace

DeviceMemory::Region region_of(const Operand& operand, void* data) {
  return {static_cast<std::byte*>(data), static_cast<std::size_t>(operand.bytes())};
}

std::vector<DeviceMemory::Region> gaps_of(const Operand& operand, void* data) {
  std::vector<DeviceMemory::Region> gaps;
  const auto& [length, stride] = operand.rows;
  const std::int64_t size = info(operand.format).storage_bytes;
  for (std::int64_t first = length; stride > length && first < operand.elements; first += stride) {
    gaps.emplace_back(static_cast<std::byte*>(data) + first * size,
                      static_cast<std::size_t>((stride - length) * size));
  }
  return gaps;
}

bool has_own_values(const Operand& operand) {
  return operand.access == Access::updated ||
         (operand.is_input() && operand.values.kind != Values::Kind::of_the_run);
}

RandomStream own_values(const Operand& operand, std::size_t position, std::size_t set, Fill fill,
                        std::uint64_t seed) {
  return {.fill = fill,
          .values = operand.values,
          .seed = seed,
          .stream = static_cast<std::uint32_t>(kOwnStreams + position),
          .first = static_cast<std::int64_t>(set) * ceil_div(operand.elements, kElementsPerBlock) *
                   kElementsPerBlock};
}

std::int64_t evicting_bytes(const Device& device) {
  return std::min(device.machine().evicting_bytes(), device.rotation_bytes());
}

Buffers::Buffers(Device& device, Fill fill, std::uint64_t seed, bool shared)
    : device_(&device), fill_(fill), seed_(seed), shared_(shared) {}

std::int64_t Buffers::sets_to_rotate(std::span<const Operand> operands) const {
  const std::int64_t touched = bytes_touched(operands);
  const std::int64_t wanted = ceil_div(device_->rotation_bytes(), touched);
  const double fitting = available_bytes() / 2 / footprint(operands, 1);
  const double most = std::clamp(fitting, 1.0, static_cast<double>(kMaxSets));
  return std::min(wanted, static_cast<std::int64_t>(most));
}

bool Buffers::rotation_is_short(std::span<const Operand> operands, std::int64_t sets) const {
  return sets < kMaxSets && sets * bytes_touched(operands) < device_->machine().evicting_bytes();
}

bool Buffers::caches_may_serve(std::span<const Operand> operands, std::int64_t sets) const {
  return sets * bytes_touched(operands) < evicting_bytes(*device_);
}

double Buffers::held_bytes() const {
  auto held = static_cast<double>(outputs_.bytes);
  for (const auto& [format, arena] : inputs_) held += static_cast<double>(arena.bytes);
  return held;
}

void Buffers::require_room(std::span<const Operand> operands, std::int64_t count) const {
  const double asked = footprint(operands, count);
  const double available = available_bytes();
  if (asked > available) throw OutOfMemory(asked, available);
}

bool Buffers::in_the_way(std::span<const Operand> operands) const {
  return held_bytes() > 0 && footprint(operands, 1) <= available_bytes();
}

double Buffers::footprint(std::span<const Operand> operands, std::int64_t count) {
  double bytes = 0;
  for (const Operand& operand : operands) {
    bytes += static_cast<double>(room(operand)) + bytes_of_gap_list(operand);
  }
  return bytes * static_cast<double>(count);
}

void Buffers::reserve(Arena& arena, std::size_t bytes, std::size_t roomy) {
  if (arena.bytes >= bytes) return;
  arena = {};  // free the memory before the larger allocation
  if (static_cast<double>(roomy) <= device_->free_bytes()) bytes = roomy;
  arena.memory = allocate_arena(arena, bytes);
  arena.bytes = bytes;
}

std::shared_ptr<void> Buffers::allocate_arena(const Arena& arena, std::size_t bytes) const {
  if (!shared_) return device_->queue().allocate(bytes);
  const double free = device_->free_bytes();
  if (static_cast<double>(bytes) > free) throw OutOfMemory(static_cast<double>(bytes), free);
  return device_->allocate_shared(bytes, &arena == &outputs_);
}

void Buffers::make_room(const Bytes& of_set, std::size_t sets) {
  const auto missing = [](const Arena& arena, std::size_t bytes) {
    return static_cast<double>(bytes - std::min(bytes, arena.filled));
  };
  double bytes = missing(outputs_, kGuard + sets * of_set.output);
  for (const auto& [format, of_one] : of_set.inputs) {
    bytes += missing(inputs_[format], sets * of_one);
  }
  if (bytes <= device_->free_bytes()) return;
  std::erase_if(inputs_, [&](const auto& arena) { return !of_set.inputs.contains(arena.first); });
}

std::byte* Buffers::inputs(Format format, std::size_t bytes, std::size_t roomy) {
  Arena& arena = inputs_[format];
  reserve(arena, bytes, roomy + roomy / 16);  // a slightly larger case then needs no new fill
  auto* const memory = static_cast<std::byte*>(arena.memory.get());
  if (arena.filled < bytes) {
    if (shared_) use_huge_pages(memory, bytes);
    const auto size = static_cast<std::size_t>(info(format).storage_bytes);
    device_->memory().fill(memory + arena.filled,
                           static_cast<std::int64_t>((bytes - arena.filled) / size), format,
                           shared_values(format, arena.filled));
    arena.filled = bytes;
  }
  return memory;
}

std::vector<BufferSet> Buffers::allocate(std::span<const Operand> operands, std::int64_t count,
                                         std::int64_t later) {
  require_room(operands, count);
  Bytes of_set;
  for (const Operand& operand : operands) {
    (is_apart(operand) ? of_set.output : of_set.inputs[operand.format]) += room(operand);
  }
  const auto sets = static_cast<std::size_t>(count);
  const auto most = static_cast<std::size_t>(std::max(count, later));
  make_room(of_set, sets);
  Cursors cursors;
  for (const auto& [format, bytes] : of_set.inputs) {
    cursors.inputs[format] = inputs(format, sets * bytes, most * bytes);
  }
  const std::size_t written = kGuard + sets * of_set.output;
  reserve(outputs_, written, kGuard + most * of_set.output);
  outputs_.filled = std::max(outputs_.filled, written);
  if (shared_) use_huge_pages(outputs_.memory.get(), written);
  auto* const outputs = static_cast<std::byte*>(outputs_.memory.get());
  guards_.assign(1, {outputs, kGuard});
  written_ = {outputs, written};
  cursors.output = outputs + kGuard;
  operands_.assign(operands.begin(), operands.end());
  sets_ = carve(sets, cursors);
  return sets_;
}

std::vector<BufferSet> Buffers::carve(std::size_t sets, Cursors cursors) {
  std::vector<BufferSet> result(sets);
  for (std::size_t set = 0; set < sets; ++set) {
    for (const Operand& operand : operands_) {
      const auto bytes = static_cast<std::size_t>(operand.bytes());
      std::byte*& cursor = is_apart(operand) ? cursors.output : cursors.inputs[operand.format];
      result[set].push_back(cursor);
      if (is_apart(operand)) guards_.emplace_back(cursor + bytes, room(operand) - bytes);
      if (operand.is_output())
        std::ranges::copy(gaps_of(operand, cursor), std::back_inserter(guards_));
      cursor += room(operand);
    }
  }
  return result;
}

void Buffers::reset() {
  poison(device_->memory(), {&written_, 1});
  device_->memory().set(guards_, kGuardByte);
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!has_own_values(operands_[i])) continue;
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      device_->memory().fill(sets_[set][i], operands_[i].elements, operands_[i].format,
                             values(set, i));
    }
  }
}

RandomStream Buffers::shared_values(Format format, std::size_t first_byte) const {
  return {.fill = fill_,
          .seed = seed_,
          .stream = static_cast<std::uint32_t>(format),
          .first = static_cast<std::int64_t>(first_byte) / info(format).storage_bytes};
}

RandomStream Buffers::values(std::size_t set, std::size_t position) const {
  const Operand& operand = operands_[position];
  if (has_own_values(operand)) return own_values(operand, position, set, fill_, seed_);
  const void* const arena = inputs_.at(operand.format).memory.get();
  return shared_values(
      operand.format, static_cast<std::size_t>(static_cast<const std::byte*>(sets_[set][position]) -
                                               static_cast<const std::byte*>(arena)));
}

std::vector<std::uint64_t> Buffers::checksums() const {
  std::vector<std::uint64_t> sums;
  for (const BufferSet& set : sets_) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].access != Access::read) continue;
      sums.push_back(device_->memory().checksum(region_of(operands_[i], set[i])));
    }
  }
  return sums;
}

void Buffers::forget_outputs() {
  const DeviceMemory::Region left{static_cast<std::byte*>(outputs_.memory.get()), outputs_.filled};
  if (!left.empty()) poison(device_->memory(), {&left, 1});
}

void Buffers::poison(DeviceMemory& memory, std::span<const DeviceMemory::Region> regions) {
  memory.set(regions, kPoisonByte);
}

void Buffers::guard_gaps(DeviceMemory& memory, std::span<const DeviceMemory::Region> gaps) {
  if (!gaps.empty()) memory.set(gaps, kGuardByte);
}

bool Buffers::guards_intact() { return device_->memory().holds(guards_, kGuardByte); }

}  // namespace ridgebench
