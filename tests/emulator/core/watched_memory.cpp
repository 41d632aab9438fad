#include "tests/emulator/core/watched_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "tests/emulator/emulator.hpp"

#if defined(__linux__) && defined(__x86_64__)
#include <sys/mman.h>
#include <ucontext.h>

#include <csignal>

namespace ridgebench::emulator {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr greg_t kWriteFault = 2;    // bit of a page fault's error code
constexpr greg_t kTrapFlag = 0x100;  // of the flags: a trap follows the next instruction

std::vector<WatchedMemory*> watched;
std::uint32_t block = 0;  // number of the one that runs

// The pages that the current instruction opened. A copy from memory to memory opens two, and four
// if source and destination each cross the end of a page.
std::array<void*, 4> opened{};
std::size_t opened_count = 0;

struct sigaction old_fault;
struct sigaction old_trap;

void on_fault(int /*signal*/, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  auto* const address = static_cast<std::byte*>(info->si_addr);
  const bool write = (registers[REG_ERR] & kWriteFault) != 0;
  if (std::ranges::none_of(watched, [&](auto* m) { return m->record(address, write, block); })) {
    sigaction(SIGSEGV, &old_fault, nullptr);  // a mistake: the same access faults again
    return;
  }
  void* const page = address - reinterpret_cast<std::uintptr_t>(address) % kPageBytes;
  // An instruction that reads a page and then writes it faults once more.
  mprotect(page, kPageBytes, write ? PROT_READ | PROT_WRITE : PROT_READ);
  opened.at(opened_count++) = page;
  registers[REG_EFL] |= kTrapFlag;
}

void on_trap(int /*signal*/, siginfo_t* /*info*/, void* context) {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  while (opened_count > 0) mprotect(opened.at(--opened_count), kPageBytes, PROT_NONE);
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction& old) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(signal, &action, &old);
}

}  // namespace

WatchedMemory::WatchedMemory(std::size_t bytes)
    : bytes_(bytes),
      reader_((bytes + kSectorBytes - 1) / kSectorBytes),
      writer_(reader_.size()),
      stored_(bytes) {
  const std::size_t whole = ((bytes + kPageBytes - 1) / kPageBytes + 2) * kPageBytes;
  void* const pages =
      mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  pages_ = {static_cast<std::byte*>(pages), whole};
  std::memset(pages, 0xFF, whole);
  watched.push_back(this);
}

WatchedMemory::~WatchedMemory() {
  std::erase(watched, this);
  munmap(pages_.data(), pages_.size());
}

std::byte* WatchedMemory::data() const { return pages_.data() + kPageBytes; }

bool WatchedMemory::record(const std::byte* address, bool write, std::uint32_t by) {
  if (address < pages_.data() || address >= pages_.data() + pages_.size()) return false;
  const auto byte = static_cast<std::size_t>(address - data());  // huge if it lies before
  if (byte >= bytes_) {
    ++counts_.outside;
    return true;
  }
  std::uint32_t& last = (write ? writer_ : reader_)[byte / kSectorBytes];
  if (last == 0) ++(write ? counts_.written : counts_.read);
  if (last != by) ++(write ? counts_.written_by_blocks : counts_.read_by_blocks);
  last = by;
  if (write && stored_[byte]) ++counts_.rewritten;
  if (write) stored_[byte] = true;
  return true;
}

void WatchedMemory::protect(int access) const { mprotect(pages_.data(), pages_.size(), access); }

WatchedLaunch::WatchedLaunch() {
  if (watched.empty()) return;
  handle(SIGSEGV, on_fault, old_fault);
  handle(SIGTRAP, on_trap, old_trap);
  for (const WatchedMemory* memory : watched) memory->protect(PROT_NONE);
}

WatchedLaunch::~WatchedLaunch() {
  if (watched.empty()) return;
  for (const WatchedMemory* memory : watched) memory->protect(PROT_READ | PROT_WRITE);
  sigaction(SIGSEGV, &old_fault, nullptr);
  sigaction(SIGTRAP, &old_trap, nullptr);
}

void WatchedLaunch::begin(unsigned blocks) {
  ++block;
  if (!watched.empty() && blocks != 1) {
    throw NotEmulated("watched memory of blocks that run at the same time");
  }
}

}  // namespace ridgebench::emulator

#else

namespace ridgebench::emulator {

WatchedMemory::WatchedMemory(std::size_t bytes) : bytes_(bytes) { throw NotEmulated(kNotWatched); }
WatchedMemory::~WatchedMemory() = default;
std::byte* WatchedMemory::data() const { return pages_.data(); }
WatchedLaunch::WatchedLaunch() = default;
WatchedLaunch::~WatchedLaunch() = default;
void WatchedLaunch::begin(unsigned /*blocks*/) {}

}  // namespace ridgebench::emulator

#endif
