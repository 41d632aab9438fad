#include "tests/emulator/hopper/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ridgebench::emulator {
namespace {

// Reused by later launches, because creating a stack is slow.
std::vector<std::unique_ptr<Thread>>& thread_pool() {
  static std::vector<std::unique_ptr<Thread>> pool;
  return pool;
}

}  // namespace

Cluster::Cluster(const Work& work, uint3 first)
    : work_(work), live_(static_cast<unsigned>(work.threads()) * work.cluster) {
  auto& pool = thread_pool();
  while (pool.size() < live_) pool.push_back(std::make_unique<Thread>(Block::run_thread));
  for (unsigned rank = 0; rank < work.cluster; ++rank) {
    const uint3 index{first.x + rank, first.y, first.z};
    const Threads threads = std::span(pool).subspan(rank * work.threads(), work.threads());
    blocks_.push_back(std::make_unique<Block>(*this, work, index, rank, threads));
  }
}

void Cluster::run() {
  try {
    while (live_ > 0) {
      if (run_blocks() || make_ready(State::yielding)) continue;
      if (!complete_a_load() && !let_pollers_try()) report_deadlock();
    }
    for (const auto& block : blocks_) block->finish();
    if (!loads_.empty()) complete(loads_.back());  // faults
  } catch (...) {
    thread_pool().clear();  // some are suspended in the kernel
    throw;
  }
}

bool Cluster::run_blocks() {
  bool ran = false;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    ran = blocks_[work_.ordered(i, blocks_.size())]->run() || ran;
  }
  return ran;
}

Block& Cluster::block(std::uint32_t rank) {
  if (rank >= blocks_.size()) fault(fmt::format("block {} of a cluster of {}", rank, size()));
  Block& block = *blocks_[rank];
  if (block.ended()) {
    fault(fmt::format("reaches into block {} of its cluster, which has ended", rank));
  }
  return block;
}

void Cluster::start(const BulkLoad& load) {
  const std::vector<std::byte> nan(load.map.box_bytes(), std::byte{0xFF});
  scatter_box(load.map, nan, load.to, load.target->shared());
  load.target->mbarriers().at(load.barrier, true);
  made_progress();
  if (eager()) {
    complete(load);
  } else {
    loads_.push_back(load);
  }
}

void Cluster::complete(const BulkLoad& load) {
  const Running running(load.by->block, load.by);
  Block& target = *load.target;
  if (target.ended()) fault("a TMA load comes to a block that has ended");
  scatter_box(load.map, read_box(load.map, load.place), load.to, target.shared());
  const auto bytes = static_cast<std::int64_t>(load.map.box_bytes());
  if (target.mbarriers().complete(load.barrier, bytes)) target.phase_ended(load.barrier);
}

// The newest first, because no order is guaranteed.
bool Cluster::complete_a_load() {
  if (loads_.empty()) return false;
  const BulkLoad load = loads_.back();
  loads_.pop_back();
  complete(load);
  return true;
}

// A poll may fail at any time, and the thread may then do something else. Returns false if that
// was tried without progress.
bool Cluster::let_pollers_try() {
  if (progress_ == progress_at_try_) return false;
  progress_at_try_ = progress_;
  return make_ready(State::polling);
}

bool Cluster::make_ready(State from) {
  bool any = false;
  for (const auto& block : blocks_) {
    for (const auto& thread : block->threads()) {
      if (thread->state != from) continue;
      thread->state = State::ready;
      any = true;
    }
  }
  return any;
}

void Cluster::arrive() {
  Thread& self = Block::thread();
  if (self.cluster_arrival != Arrival::none) {
    fault("comes to barrier.cluster again without having waited there");
  }
  self.cluster_arrival = Arrival::arrived;
  ++arrived_;
  made_progress();
  end_arrival();
}

void Cluster::release(const Thread* thread) {
  for (const auto& block : blocks_) block->mbarriers().released(thread);
}

void Cluster::wait(const std::source_location& where) {
  Thread& self = Block::thread();
  if (self.cluster_arrival == Arrival::none) {
    fault("waits at barrier.cluster without having arrived");
  }
  if (self.cluster_arrival == Arrival::arrived) {
    self.block->wait(State::at_cluster_barrier, "barrier.cluster.wait", where);
  }
  self.cluster_arrival = Arrival::none;
}

void Cluster::thread_ended(const Thread& thread) {
  --live_;
  if (thread.cluster_arrival == Arrival::arrived) --arrived_;
  end_arrival();
}

void Cluster::end_arrival() {
  if (arrived_ == 0 || arrived_ < live_) return;
  arrived_ = 0;
  for (const auto& block : blocks_) {
    for (const auto& thread : block->threads()) {
      if (thread->cluster_arrival == Arrival::arrived) {
        thread->cluster_arrival = Arrival::completed;
      }
      if (thread->state == State::at_cluster_barrier) thread->state = State::ready;
    }
  }
}

}  // namespace ridgebench::emulator
