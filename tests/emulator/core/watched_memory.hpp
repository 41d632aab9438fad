// Memory that counts what kernels read and write in it, by sectors of 32 bytes, in which caches and
// main memory move data. While a kernel runs, its pages have no access rights: each access is a
// page fault, whose handler records it, opens the page for one instruction and closes it again.
//
// A fault has the address of the first byte and no width: an access counts in the sector where it
// begins. An instruction that reads, changes and writes back counts as a write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ridgebench::emulator {

inline constexpr std::size_t kSectorBytes = 32;

// The handler needs Linux on x86-64. clang, which builds with sanitizers, copies 16 bytes by calls
// of memcpy, which stores some of them twice.
#if defined(__linux__) && defined(__x86_64__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
inline constexpr bool kWatchesMemory = true;
#else
inline constexpr bool kWatchesMemory = false;
#endif
inline constexpr const char* kNotWatched = "memory is watched on Linux on x86-64, by GCC only";

// Sectors, of all launches since the memory was made.
struct SectorCounts {
  // Different ones: what a cache that keeps everything moves.
  std::int64_t read = 0, written = 0;
  // The different ones of each block, summed: what blocks request beyond first-level caches.
  std::int64_t read_by_blocks = 0, written_by_blocks = 0;
  std::int64_t rewritten = 0;  // stores to an address that had been stored to
  std::int64_t outside = 0;    // accesses less than a page before or behind the memory
};

class WatchedMemory {
 public:
  // From the start of a page on, all ones: NaN in every format. Throws std::system_error if the
  // system refuses the pages.
  explicit WatchedMemory(std::size_t bytes);
  WatchedMemory(const WatchedMemory&) = delete;  // the handler has its address
  WatchedMemory& operator=(const WatchedMemory&) = delete;
  ~WatchedMemory();

  [[nodiscard]] std::byte* data() const;
  [[nodiscard]] const SectorCounts& counts() const { return counts_; }

  // For the handler: adds an access by a block, whose number is unique among all launches and not
  // 0; false if the address is not in these pages.
  bool record(const std::byte* address, bool write, std::uint32_t block);
  void protect(int access) const;  // as mprotect, all pages

 private:
  std::size_t bytes_;
  std::span<std::byte> pages_;
  SectorCounts counts_;
  std::vector<std::uint32_t> reader_, writer_;  // of each sector: the last block, 0 for none
  std::vector<bool> stored_;                    // of each byte: a store began here
};

// A launch: while it lives, accesses to watched memory count. Only one exists at a time.
class WatchedLaunch {
 public:
  WatchedLaunch();
  WatchedLaunch(const WatchedLaunch&) = delete;
  WatchedLaunch& operator=(const WatchedLaunch&) = delete;
  ~WatchedLaunch();
  // Called before each cluster. Throws NotEmulated if memory is watched and the cluster has several
  // blocks, which would run at the same time.
  static void begin(unsigned blocks);
};

}  // namespace ridgebench::emulator
