// Memory of this process that the processes of own kernels map as well. This process fills, poisons
// and reads it in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ridgebench {

// An allocation. Its number is never used again.
struct SharedArena {
  std::uint64_t number = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  int descriptor = -1;
  std::size_t used = 0;   // leading bytes that use_huge_pages() has seen
  bool writable = false;  // for the other processes
  bool of_host = true;    // and not of a GPU
};

// A place in an arena.
struct SharedPlace {
  SharedArena arena;
  std::size_t offset = 0;
};

// Allocates memory that is zero, in whole huge pages. Other processes can write into it only if it
// is `writable`, and none can change its length. Throws OutOfMemory if the system refuses.
std::shared_ptr<void> allocate_shared(std::size_t bytes, bool writable);

// Makes an arena of memory that has a descriptor: the memory and the descriptor, which is closed,
// go with the last owner of the result. Fills in the number and the address of `arena`.
std::shared_ptr<void> share_memory(std::shared_ptr<void> memory, SharedArena arena);

// Gives the first `bytes` of an allocation huge pages, where the system grants them to shared
// memory (Linux 6.1). The memory of all other rows has them.
void use_huge_pages(const void* allocation, std::size_t bytes);

// The place of an address; empty if no arena has it.
std::optional<SharedPlace> shared_place(const void* address);
// True if the arena with this number still exists.
bool is_allocated(std::uint64_t arena);

// An arena of another process in this one.
class MappedArena {
 public:
  // Takes the descriptor. Throws std::system_error.
  MappedArena(int descriptor, std::size_t bytes, bool writable);
  // An arena that a device has mapped.
  MappedArena(std::shared_ptr<void> memory, std::size_t bytes);

  // Throws std::out_of_range.
  [[nodiscard]] std::byte* at(std::size_t offset) const;
  // Maps the pages of the first bytes now, and not when a launch first touches them.
  void populate(std::size_t bytes) const;

 private:
  std::shared_ptr<void> memory_;
  std::size_t bytes_;
  int populate_;  // what madvise() is told; 0: nothing, for memory of a device
};

}  // namespace ridgebench
