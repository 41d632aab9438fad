#include "tests/emulator/core/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tests/emulator/core/indices.hpp"
#include "tests/emulator/core/text.hpp"
#include "tests/emulator/hopper/cluster.hpp"

namespace ridgebench::emulator {
namespace {

Block* current_block = nullptr;
Thread* current_thread = nullptr;

}  // namespace

void fault(const std::string& text) {
  if (current_block == nullptr) throw Fault(text);
  throw Fault(current_block->place(current_thread) + text);
}

Running::Running(Block* block, Thread* thread)
    : block_(std::exchange(current_block, block)), thread_(std::exchange(current_thread, thread)) {}

Running::~Running() {
  current_block = block_;
  current_thread = thread_;
}

Block& Block::current() {
  if (current_block == nullptr) fault("device code runs outside a launch");
  return *current_block;
}

Thread& Block::thread() {
  if (current_thread == nullptr) fault("device code runs outside a launch");
  return *current_thread;
}

std::string Block::place(const Thread* thread) const {
  const std::string block = fmt::format("kernel {}, block {}", kernel_, text(index_));
  return thread == nullptr ? block + ": "
                           : fmt::format("{}, thread {}: ", block, text(thread->index));
}

Block::Block(Cluster& cluster, const Work& work, uint3 index, unsigned rank, Threads threads)
    : cluster_(cluster),
      work_(work),
      kernel_(work.kernel),
      index_(index),
      rank_(rank),
      threads_(threads),
      live_(static_cast<unsigned>(threads.size())),
      rendezvous_((threads.size() + kWarp - 1) / kWarp),
      gatherings_((threads.size() + kWarpgroup - 1) / kWarpgroup),
      products_(rendezvous_.size()),
      registers_(threads.size()),
      shared_(work.shared, threads.size(), work.cluster == 1),
      mbarriers_(shared_) {
  for (unsigned i = 0; i < threads.size(); ++i) threads[i]->start(*this, i, work.block);
}

void Block::enter_kernel(std::string_view name, const std::source_location& where) {
  if (kernel_.empty()) kernel_ = fmt::format("{} ({})", name, text(where));
}

void Block::run_thread() {
  try {
    current_block->work_.thread();
    current_thread->stores.finish();
    if (!current_block->products_[current_thread->warp].idle()) {
      fault("ends without waiting for its wgmma products");
    }
  } catch (...) {
    current_thread->error = std::current_exception();
  }
  current_thread->state = State::done;
}

Threads Block::lanes(unsigned warp) const {
  const std::size_t first = std::size_t{warp} * kWarp;
  return threads_.subspan(first, std::min<std::size_t>(kWarp, threads_.size() - first));
}

std::uint32_t Block::live_lanes(unsigned warp) const {
  std::uint32_t live = 0;
  for (const auto& thread : lanes(warp)) {
    if (thread->state != State::done) live |= 1U << thread->lane;
  }
  return live;
}

bool Block::run() {
  blockIdx = index_;
  bool ran = false;
  const std::size_t warps = rendezvous_.size();
  for (std::size_t i = 0; i < warps; ++i) {
    ran = run_warp(static_cast<unsigned>(work_.ordered(i, warps))) || ran;
  }
  return ran;
}

bool Block::run_warp(unsigned warp) {
  const Threads warp_lanes = lanes(warp);
  bool ever = false;
  for (bool ran = true; ran;) {
    ran = false;
    for (std::size_t i = 0; i < warp_lanes.size(); ++i) {
      Thread& thread = *warp_lanes[work_.ordered(i, warp_lanes.size())];
      if (thread.state != State::ready) continue;
      resume(thread);
      ran = true;
    }
    ever = ever || ran;
  }
  return ever;
}

void Block::resume(Thread& thread) {
  threadIdx = thread.index;
  const Running running(this, &thread);
  thread.fiber.resume();
  if (thread.error) std::rethrow_exception(std::exchange(thread.error, nullptr));
  if (thread.state == State::done) end(thread);
}

// A barrier for all threads now waits for one thread less.
void Block::end(Thread& thread) {
  --live_;
  finish_rendezvous(thread.warp);
  for (unsigned id = 0; id < barriers_.size(); ++id) {
    if (barriers_[id].count == 0) release(id);
  }
  cluster_.thread_ended(thread);
  cluster_.made_progress();
}

void Block::finish() {
  const Running running(this, nullptr);
  shared_.finish();
  registers_.finish();
  mbarriers_.finish();
}

void Block::wait(State state, std::string_view what, const std::source_location& where) {
  Thread& self = thread();
  self.state = state;
  self.waits_at = what;
  self.where = where;
  Fiber::suspend();
}

void Block::yield(const std::source_location& where) {
  for (const auto& lane : lanes(thread().warp)) {
    if (lane->state == State::ready) lane->state = State::yielding;
  }
  wait(State::yielding, "a yield", where);
}

void Block::poll(Poll poll, std::string_view what, const std::source_location& where) {
  thread().poll = poll;
  wait(State::polling, what, where);
}

void Block::phase_ended(std::uint32_t barrier) {
  cluster_.made_progress();
  for (const auto& thread : threads_) {
    if (thread->state != State::polling || thread->poll.barrier != barrier) continue;
    if (mbarriers_.at(barrier).ended(thread->poll.parity)) thread->state = State::ready;
  }
}

}  // namespace ridgebench::emulator
