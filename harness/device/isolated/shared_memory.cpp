#include "harness/device/isolated/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr std::size_t kSharedPage = std::size_t{2} << 20U;  // a huge page of Linux

// Newer kernels have it, but not the headers of some systems. Source: Linux,
// include/uapi/linux/fcntl.h and include/uapi/asm-generic/mman-common.h.
constexpr int kSealFutureWrite = 0x0010;
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;
constexpr int kCollapse = 25;

std::mutex g_arenas_mutex;
// By the address of the data. Never destroyed, because the registry frees memory at the very end.
std::map<const std::byte*, SharedArena>& g_arenas = *new std::map<const std::byte*, SharedArena>;
std::uint64_t g_last_arena = 0;

// In whole huge pages.
std::size_t in_huge_pages(std::size_t bytes) { return round_up(bytes, kSharedPage); }

// The arena that begins at or before the address.
std::map<const std::byte*, SharedArena>::iterator arena_before(const void* address) {
  const auto after = g_arenas.upper_bound(static_cast<const std::byte*>(address));
  return after == g_arenas.begin() ? g_arenas.end() : std::prev(after);
}

// Maps `size` bytes of a file at a multiple of a huge page; null if the system refuses.
std::byte* map_aligned(int descriptor, std::size_t size, int protection, void*& base) {
  base = mmap(nullptr, size + kSharedPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
              -1, 0);
  if (base == MAP_FAILED) return nullptr;
  void* aligned = base;
  std::size_t space = size + kSharedPage;
  std::align(kSharedPage, size, aligned, space);
  if (mmap(aligned, size, protection, MAP_SHARED | MAP_FIXED, descriptor, 0) == MAP_FAILED) {
    munmap(base, size + kSharedPage);
    return nullptr;
  }
  return static_cast<std::byte*>(aligned);
}

// The data of map_aligned(), with its mapping.
std::shared_ptr<void> unmapped_at_end(std::byte* data, void* base, std::size_t size) {
  return {data, [base, size](void*) { munmap(base, size + kSharedPage); }};
}

void forget_arena(const std::byte* data) {
  const std::scoped_lock lock(g_arenas_mutex);
  const auto found = g_arenas.find(data);
  close(found->second.descriptor);
  g_arenas.erase(found);
}

}  // namespace

std::shared_ptr<void> allocate_shared(std::size_t bytes, bool writable) {
  const std::size_t size = in_huge_pages(std::max<std::size_t>(bytes, 1));
  const int file = memfd_create("ridgebench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void* base = nullptr;
  std::byte* data = nullptr;
  if (file >= 0 && ftruncate(file, static_cast<off_t>(size)) == 0) {
    data = map_aligned(file, size, PROT_READ | PROT_WRITE, base);
  }
  if (data == nullptr) {
    if (file >= 0) close(file);
    throw OutOfMemory(static_cast<double>(size), 0);
  }
  // This process's mapping stays writable. A file that shrinks would end this process by SIGBUS.
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | (writable ? 0 : kSealFutureWrite);
  if (fcntl(file, F_ADD_SEALS, seals) != 0) fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  fcntl(file, F_ADD_SEALS, F_SEAL_SEAL);
  return share_memory(unmapped_at_end(data, base, size),
                      {.bytes = size, .descriptor = file, .writable = writable});
}

std::shared_ptr<void> share_memory(std::shared_ptr<void> memory, SharedArena arena) {
  arena.data = static_cast<std::byte*>(memory.get());
  const std::scoped_lock lock(g_arenas_mutex);
  arena.number = ++g_last_arena;
  g_arenas[arena.data] = arena;
  // The arena is forgotten before another one can have its address.
  return {arena.data, [memory](void* data) mutable {
            forget_arena(static_cast<const std::byte*>(data));
            memory.reset();
          }};
}

// The kernel makes a huge page of shared memory out of pages that exist, so one byte of each is
// touched before. Where it refuses, the small pages stay.
void use_huge_pages(const void* allocation, std::size_t bytes) {
  const std::scoped_lock lock(g_arenas_mutex);
  const auto found = g_arenas.find(static_cast<const std::byte*>(allocation));
  if (found == g_arenas.end() || !found->second.of_host) return;
  SharedArena& arena = found->second;
  const std::size_t end = std::min(arena.bytes, in_huge_pages(bytes));
  if (end <= arena.used) return;
  std::byte* const first = arena.data + arena.used;
  for (std::byte* page = first; page < arena.data + end; page += kSharedPage) {
    *static_cast<volatile std::byte*>(page) = *page;
  }
  madvise(first, end - arena.used, kCollapse);
  arena.used = end;
}

std::optional<SharedPlace> shared_place(const void* address) {
  const std::scoped_lock lock(g_arenas_mutex);
  const auto found = arena_before(address);
  if (found == g_arenas.end()) return std::nullopt;
  const SharedArena& arena = found->second;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - arena.data);
  if (offset >= arena.bytes) return std::nullopt;
  return SharedPlace{arena, offset};
}

bool is_allocated(std::uint64_t arena) {
  const std::scoped_lock lock(g_arenas_mutex);
  return std::ranges::any_of(g_arenas, [&](const auto& one) { return one.second.number == arena; });
}

MappedArena::MappedArena(int descriptor, std::size_t bytes, bool writable)
    : bytes_(bytes), populate_(writable ? kPopulateWrite : kPopulateRead) {
  void* base = nullptr;
  std::byte* const data =
      map_aligned(descriptor, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, base);
  const int error = errno;
  close(descriptor);
  if (data == nullptr) throw std::system_error(error, std::generic_category());
  memory_ = unmapped_at_end(data, base, bytes);
}

MappedArena::MappedArena(std::shared_ptr<void> memory, std::size_t bytes)
    : memory_(std::move(memory)), bytes_(bytes), populate_(0) {}

std::byte* MappedArena::at(std::size_t offset) const {
  if (offset >= bytes_) throw std::out_of_range("an address is outside its arena");
  return static_cast<std::byte*>(memory_.get()) + offset;
}

// An older kernel refuses, and the warm-up then maps the pages.
void MappedArena::populate(std::size_t bytes) const {
  if (populate_ != 0) madvise(memory_.get(), std::min(bytes, bytes_), populate_);
}

}  // namespace ridgebench
