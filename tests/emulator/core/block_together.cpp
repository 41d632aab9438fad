// Collective operations of a block: barriers, and instructions of a warp or a warpgroup.
#include <fmt/format.h>

#include <algorithm>

#include "tests/emulator/core/block.hpp"
#include "tests/emulator/core/text.hpp"
#include "tests/emulator/hopper/cluster.hpp"

namespace ridgebench::emulator {

// Source: PTX ISA, "bar": the count is a multiple of the warp size, and all threads give the same.
void Block::enter(unsigned id, unsigned count) {
  if (id >= barriers_.size()) fault(fmt::format("barrier number {}", id));
  if (count % kWarp != 0) fault(fmt::format("a barrier for {} threads, not whole warps", count));
  if (count > threads_.size()) fault(fmt::format("a barrier for {} threads", count));
  NamedBarrier& barrier = barriers_[id];
  if (barrier.arrived == 0) barrier.count = count;
  if (barrier.count != count) {
    fault(
        fmt::format("comes to barrier {} for {} threads, others for {}", id, count, barrier.count));
  }
  ++barrier.arrived;
  cluster_.made_progress();
}

void Block::barrier(unsigned id, unsigned count, std::string_view what,
                    const std::source_location& where) {
  enter(id, count);
  Thread& self = thread();
  self.barrier = id;
  self.state = State::at_barrier;
  self.waits_at = what;
  self.where = where;
  release(id);
  Fiber::suspend();  // the last thread to arrive as well: threads continue in their order
}

void Block::arrive(unsigned id, unsigned count) {
  enter(id, count);
  release(id);
}

// Releases the threads at a barrier once all have arrived.
void Block::release(unsigned id) {
  NamedBarrier& barrier = barriers_[id];
  const unsigned needed = barrier.count == 0 ? live_ : barrier.count;
  if (barrier.arrived == 0 || barrier.arrived < needed) return;
  if (barrier.count == 0) require_one_place();
  barrier = {};
  for (const auto& thread : threads_) {
    if (thread->state == State::at_barrier && thread->barrier == id) thread->state = State::ready;
  }
}

// All threads of the block must wait at the same __syncthreads().
void Block::require_one_place() const {
  const Thread* first = nullptr;
  for (const auto& thread : threads_) {
    if (thread->state != State::at_barrier || thread->barrier != 0) continue;
    if (first == nullptr) first = thread.get();
    if (thread->where.line() != first->where.line()) {
      throw Fault(fmt::format("{}waits at {} ({}), but thread {} at {} ({})", place(thread.get()),
                              thread->waits_at, text(thread->where), text(first->index),
                              first->waits_at, text(first->where)));
    }
  }
}

void Block::with_warp(std::uint32_t mask, std::string_view what, void* argument, Together together,
                      const std::source_location& where) {
  const Thread& self = thread();
  const std::uint32_t own = 1U << self.lane;
  if ((mask & own) == 0) fault(fmt::format("{} with a mask that leaves out its own lane", what));
  std::vector<Rendezvous>& open = rendezvous_[self.warp];
  auto found = std::ranges::find(open, mask, &Rendezvous::mask);
  if (found == open.end()) found = open.insert(open.end(), {mask, what, together});
  if (found->what != what) {
    fault(fmt::format("{} ({}), while other lanes of its warp are at {}", what, text(where),
                      found->what));
  }
  found->arrived |= own;
  found->lanes[self.lane] = argument;
  cluster_.made_progress();
  if (found->arrived == (mask & live_lanes(self.warp))) {
    finish_rendezvous(self.warp);
  } else {
    wait(State::together, what, where);
  }
}

// Lanes that have ended are not waited for.
void Block::finish_rendezvous(unsigned warp) {
  const std::uint32_t live = live_lanes(warp);
  std::erase_if(rendezvous_[warp], [&](const Rendezvous& r) {
    if ((r.arrived & live) != (r.mask & live)) return false;
    r.together(r.lanes);
    for (const auto& thread : lanes(warp)) {
      if (r.lanes[thread->lane] != nullptr) thread->state = State::ready;
    }
    return true;
  });
}

void Block::with_warpgroup(std::string_view what, void* argument, WarpgroupTogether together,
                           const std::source_location& where) {
  const unsigned number = thread().number;
  const unsigned group = number / kWarpgroup;
  if ((group + 1) * kWarpgroup > threads_.size()) {
    fault(fmt::format("{} outside a warpgroup of 128 threads", what));
  }
  Gathering& gathering = gatherings_[group];
  if (gathering.arrived == 0) gathering.what = what;
  if (gathering.what != what) {
    fault(fmt::format("{} ({}), while others of its warpgroup are at {}", what, text(where),
                      gathering.what));
  }
  gathering.threads[number % kWarpgroup] = argument;
  cluster_.made_progress();
  if (++gathering.arrived < kWarpgroup) {
    wait(State::together, what, where);
    return;
  }
  together(gathering.threads);
  gathering = {};
  for (const auto& other : threads_.subspan(std::size_t{group} * kWarpgroup, kWarpgroup)) {
    other->state = State::ready;
  }
}

}  // namespace ridgebench::emulator
