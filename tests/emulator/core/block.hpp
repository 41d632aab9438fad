// One block: its threads, the barriers at which they wait, and its shared memory.
#pragma once

#include <vector_types.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/emulator/core/shared_memory.hpp"
#include "tests/emulator/core/thread.hpp"
#include "tests/emulator/core/work.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/hopper/mbarrier.hpp"
#include "tests/emulator/hopper/registers.hpp"
#include "tests/emulator/ptx/products.hpp"

namespace ridgebench::emulator {

class Cluster;

// Executes a collective instruction of a warp or a warpgroup; the last thread to arrive calls it.
using Together = void (*)(const Lanes&);
using WarpgroupTogether = void (*)(const Warpgroup&);

// An instruction that the lanes of a warp execute together, and that some have not reached yet.
struct Rendezvous {
  std::uint32_t mask;
  std::string_view what;
  Together together;
  std::uint32_t arrived = 0;
  Lanes lanes{};
};

// The same for a warpgroup, whose threads must all arrive.
struct Gathering {
  std::string_view what;  // empty: no thread has arrived
  unsigned arrived = 0;
  Warpgroup threads{};
};

// bar.sync: a count of 0 means all threads that have not ended.
struct NamedBarrier {
  unsigned count = 0;
  unsigned arrived = 0;
};

using Threads = std::span<const std::unique_ptr<Thread>>;

class Block {
 public:
  Block(Cluster& cluster, const Work& work, uint3 index, unsigned rank, Threads threads);
  Block(const Block&) = delete;  // its threads point to it
  Block& operator=(const Block&) = delete;
  ~Block() = default;

  // The block and the thread that run now. Outside a launch there are none.
  static Block& current();
  static Thread& thread();
  // The body of every fiber.
  static void run_thread();

  // Runs every warp until it waits; returns false if no warp could run.
  bool run();
  // Faults where the block leaves asynchronous work unfinished.
  void finish();
  [[nodiscard]] bool ended() const { return live_ == 0; }

  // Waits for `count` threads, or with 0 for all that have not ended, at a barrier of the block;
  // the second function arrives without waiting.
  void barrier(unsigned id, unsigned count, std::string_view what,
               const std::source_location& where);
  void arrive(unsigned id, unsigned count);
  // Waits for all lanes of `mask` that have not ended, or for a warpgroup, and calls `together`
  // with their arguments, which stay in place until then.
  void with_warp(std::uint32_t mask, std::string_view what, void* argument, Together together,
                 const std::source_location& where);
  void with_warpgroup(std::string_view what, void* argument, WarpgroupTogether together,
                      const std::source_location& where);
  // Yields until the phase completes or no other thread can run.
  void poll(Poll poll, std::string_view what, const std::source_location& where);
  // Runs all threads of other warps until they wait.
  void yield(const std::source_location& where);
  // A phase of the barrier has completed: threads that poll it can run again.
  void phase_ended(std::uint32_t barrier);
  void wait(State state, std::string_view what, const std::source_location& where);

  // For a launch that does not know the name of its kernel.
  void enter_kernel(std::string_view name, const std::source_location& where);

  [[nodiscard]] Cluster& cluster() { return cluster_; }
  [[nodiscard]] unsigned rank() const { return rank_; }
  [[nodiscard]] SharedMemory& shared() { return shared_; }
  [[nodiscard]] MBarriers& mbarriers() { return mbarriers_; }
  [[nodiscard]] WarpProducts& products(unsigned warp) { return products_[warp]; }
  [[nodiscard]] Registers& registers() { return registers_; }
  [[nodiscard]] Threads threads() const { return threads_; }

  // "kernel k, block (0, 0, 0), thread (1, 0, 0): ".
  [[nodiscard]] std::string place(const Thread* thread) const;

 private:
  bool run_warp(unsigned warp);
  void resume(Thread& thread);
  void end(Thread& thread);
  void enter(unsigned id, unsigned count);
  void release(unsigned id);
  void require_one_place() const;
  void finish_rendezvous(unsigned warp);
  [[nodiscard]] std::uint32_t live_lanes(unsigned warp) const;
  [[nodiscard]] Threads lanes(unsigned warp) const;

  Cluster& cluster_;
  const Work& work_;
  std::string kernel_;
  uint3 index_;
  unsigned rank_;
  Threads threads_;
  unsigned live_;
  std::array<NamedBarrier, 16> barriers_;
  std::vector<std::vector<Rendezvous>> rendezvous_;  // of each warp
  std::vector<Gathering> gatherings_;                // of each warpgroup
  std::vector<WarpProducts> products_;               // of each warp
  Registers registers_;
  SharedMemory shared_;
  MBarriers mbarriers_;
};

// While it lives, faults name this block and thread.
class Running {
 public:
  Running(Block* block, Thread* thread);
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();

 private:
  Block* block_;
  Thread* thread_;
};

}  // namespace ridgebench::emulator
