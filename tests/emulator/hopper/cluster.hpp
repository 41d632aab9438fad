// The blocks of a cluster, which run at the same time: schedules their threads and TMA loads. A
// launch without clusters has clusters of one block.
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "tests/emulator/core/block.hpp"
#include "tests/emulator/core/work.hpp"
#include "tests/emulator/hopper/tensor_map.hpp"

namespace ridgebench::emulator {

// A TMA load into one block. A multicast is one load per block.
struct BulkLoad {
  TiledMap map;
  BoxPlace place;
  std::uint32_t to;
  std::uint32_t barrier;
  Block* target;
  Thread* by;
};

class Cluster {
 public:
  // Blocks from `first` on, along x.
  Cluster(const Work& work, uint3 first);
  Cluster(const Cluster&) = delete;  // its blocks point to it
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster() = default;

  // Runs all threads to their end.
  void run();

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(blocks_.size()); }
  // Faults where the block does not exist or has ended.
  [[nodiscard]] Block& block(std::uint32_t rank);
  // True if asynchronous work runs as early as possible instead of as late.
  [[nodiscard]] bool eager() const { return work_.order == Order::descending; }

  // True if the kernel ahead may still run, until a thread calls griddepcontrol.wait.
  [[nodiscard]] bool dependent() const { return work_.dependent; }

  // True if a warp that arrives at an mbarrier lets others run first.
  [[nodiscard]] bool hesitates() const { return work_.order == Order::hesitant; }

  // barrier.cluster, for all threads of all blocks that have not ended.
  void arrive();
  // The thread's arrivals at mbarriers of all blocks are complete where barrier.cluster completes.
  void release(const Thread* thread);
  void wait(const std::source_location& where);
  void thread_ended(const Thread& thread);

  // Sets the destination to NaN.
  void start(const BulkLoad& load);

  // Called after an event that may let a thread continue.
  void made_progress() { ++progress_; }

 private:
  bool run_blocks();
  void complete(const BulkLoad& load);
  bool complete_a_load();
  bool let_pollers_try();
  bool make_ready(State from);
  void end_arrival();
  [[noreturn]] void report_deadlock();
  [[nodiscard]] std::string waits_for(const Thread& thread);

  const Work& work_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<BulkLoad> loads_;
  unsigned live_;  // threads
  unsigned arrived_ = 0;
  std::uint64_t progress_ = 1;
  std::uint64_t progress_at_try_ = 0;
};

}  // namespace ridgebench::emulator
