// The block that runs at the moment: its threads, what they wait for, and its shared memory.
#pragma once

#include <vector_types.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/emulator/async_copies.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/fiber.hpp"

namespace ridgepoint::emulator {

inline constexpr unsigned kWarp = 32;
inline constexpr std::uint32_t kWholeWarp = 0xffffffffU;

enum class State { ready, at_barrier, in_warp, done };

struct Thread {
  explicit Thread(void (*body)()) : fiber(body) {}

  Fiber fiber;
  uint3 index{};
  unsigned warp = 0;
  unsigned lane = 0;
  State state = State::ready;
  std::string_view waits_at;
  std::source_location where;
  std::exception_ptr error;
  AsyncCopies copies;
};

// One pointer per lane, null where the lane takes no part.
using Lanes = std::array<void*, kWarp>;
// Does what the lanes have come together for; the last of them to arrive calls it.
using Together = void (*)(const Lanes&);

// An instruction that lanes of a warp execute together, while some have not arrived.
struct Rendezvous {
  std::uint32_t mask;
  std::string_view what;
  Together together;
  std::uint32_t arrived = 0;
  Lanes lanes{};
};

// Shared memory as PTX sees it.
struct SharedArray {
  std::span<std::byte> bytes;
  std::uint32_t address;
};

class Block {
 public:
  // Runs all threads to their end.
  Block(std::string kernel, const std::function<void()>& body, uint3 index, dim3 size, Order order);

  // The block and the thread that run at the moment; outside a launch there are none.
  static Block& current();
  static Thread& thread();

  // Waits for all threads that have not ended.
  void barrier(std::string_view what, const std::source_location& where);
  // Waits for all lanes of `mask` that have not ended; `together` then gets their arguments, which
  // stay where they are until then.
  void with_warp(std::uint32_t mask, std::string_view what, void* argument, Together together,
                 const std::source_location& where);

  // A shared array and the alignment that its declaration asks for: NaN at its first use by the
  // block.
  void enter_shared(void* array, std::size_t bytes, std::size_t alignment);
  // Address of shared memory as PTX sees it, and back; faults where [address, + bytes) is not
  // within one array.
  [[nodiscard]] std::uint32_t shared_address(const void* pointer) const;
  [[nodiscard]] std::byte* shared_pointer(std::uint32_t address, std::size_t bytes) const;

  // "kernel k, block (0, 0, 0), thread (1, 0, 0): ".
  [[nodiscard]] std::string place(const Thread* thread) const;

 private:
  static void run_thread();

  void start_threads(dim3 size);
  void run();
  void run_warp(unsigned warp);
  void resume(Thread& thread);
  void release_barrier();
  void finish_rendezvous(unsigned warp);
  void wait(State state, std::string_view what, const std::source_location& where);
  [[nodiscard]] std::uint32_t live_lanes(unsigned warp) const;
  [[nodiscard]] std::span<const std::unique_ptr<Thread>> lanes(unsigned warp) const;
  [[nodiscard]] std::size_t ordered(std::size_t index, std::size_t count) const {
    return order_ == Order::ascending ? index : count - 1 - index;
  }

  std::string kernel_;
  const std::function<void()>& body_;
  uint3 index_;
  Order order_;
  std::size_t count_ = 0;
  std::vector<std::vector<Rendezvous>> rendezvous_;  // of each warp
  std::vector<SharedArray> shared_;
};

}  // namespace ridgepoint::emulator
