// The blocks of a cluster, which run at once: the scheduler of their threads, and of what TMA loads
// for them. A launch without clusters is one of clusters of one block.
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

// A TMA load into one block. A multicast is one to each.
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
  // Faults where there is no such block, or where it has ended.
  [[nodiscard]] Block& block(std::uint32_t rank);
  // Whether asynchronous work is done as soon as it can be instead of as late.
  [[nodiscard]] bool eager() const { return work_.order == Order::descending; }

  // Whether who arrives at an mbarrier lets others go first.
  [[nodiscard]] bool hesitates() const { return work_.order == Order::hesitant; }

  // barrier.cluster, which all threads of all blocks come to that have not ended.
  void arrive();
  void wait(const std::source_location& where);
  void thread_ended(const Thread& thread);

  // The destination is NaN from now on.
  void start(const BulkLoad& load);

  // Something happened that may let a thread go on.
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
