#include "tests/emulator/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/emulator/indices.hpp"

namespace ridgepoint::emulator {
namespace {

// Static arrays of a block. Source: CUDA C++ Programming Guide, "Technical Specifications".
constexpr std::size_t kMostSharedBytes = std::size_t{48} << 10U;

// Least distance between shared arrays as PTX sees them, and from address 0.
constexpr std::size_t kGap = 0x1000;

Block* current_block = nullptr;
Thread* current_thread = nullptr;

// Kept from block to block: making a stack is slow.
std::vector<std::unique_ptr<Thread>>& threads() {
  static std::vector<std::unique_ptr<Thread>> pool;
  return pool;
}

std::string text(uint3 index) { return fmt::format("({}, {}, {})", index.x, index.y, index.z); }

std::string text(const std::source_location& where) {
  const std::string_view file = where.file_name();
  return fmt::format("{}:{}", file.substr(file.find_last_of('/') + 1), where.line());
}

}  // namespace

void fault(const std::string& text) {
  if (current_block == nullptr) throw Fault(text);
  throw Fault(current_block->place(current_thread) + text);
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

Block::Block(std::string kernel, const std::function<void()>& body, uint3 index, dim3 size,
             Order order)
    : kernel_(std::move(kernel)), body_(body), index_(index), order_(order) {
  current_block = this;
  try {
    start_threads(size);
    run();
  } catch (...) {
    threads().clear();  // some are in the middle of the kernel
    current_thread = nullptr;
    current_block = nullptr;
    throw;
  }
  current_block = nullptr;
}

void Block::start_threads(dim3 size) {
  count_ = std::size_t{size.x} * size.y * size.z;
  rendezvous_.resize((count_ + kWarp - 1) / kWarp);
  while (threads().size() < count_) threads().push_back(std::make_unique<Thread>(run_thread));
  for (unsigned i = 0; i < count_; ++i) {
    Thread& thread = *threads()[i];
    thread.index = {i % size.x, i / size.x % size.y, i / (size.x * size.y)};
    thread.warp = i / kWarp;
    thread.lane = i % kWarp;
    thread.state = State::ready;
    thread.copies.forget();
  }
}

// The body of every fiber.
void Block::run_thread() {
  try {
    current_block->body_();
  } catch (...) {
    current_thread->error = std::current_exception();
  }
  current_thread->state = State::done;
}

std::span<const std::unique_ptr<Thread>> Block::lanes(unsigned warp) const {
  const std::size_t first = std::size_t{warp} * kWarp;
  return std::span(threads()).subspan(first, std::min<std::size_t>(kWarp, count_ - first));
}

std::uint32_t Block::live_lanes(unsigned warp) const {
  std::uint32_t live = 0;
  for (const auto& thread : lanes(warp)) {
    if (thread->state != State::done) live |= 1U << thread->lane;
  }
  return live;
}

// After every warp has run as far as it can, all threads that live wait at the barrier, or
// something is wrong.
void Block::run() {
  for (;;) {
    const std::size_t warps = rendezvous_.size();
    for (std::size_t i = 0; i < warps; ++i) run_warp(static_cast<unsigned>(ordered(i, warps)));
    const auto block = std::span(threads()).first(count_);
    if (std::ranges::all_of(block, [](const auto& t) { return t->state == State::done; })) return;
    release_barrier();
  }
}

void Block::run_warp(unsigned warp) {
  const auto warp_lanes = lanes(warp);
  for (bool ran = true; ran;) {
    ran = false;
    for (std::size_t i = 0; i < warp_lanes.size(); ++i) {
      Thread& thread = *warp_lanes[ordered(i, warp_lanes.size())];
      if (thread.state != State::ready) continue;
      resume(thread);
      ran = true;
    }
  }
}

void Block::resume(Thread& thread) {
  threadIdx = thread.index;
  current_thread = &thread;
  thread.fiber.resume();
  current_thread = nullptr;
  if (thread.error) std::rethrow_exception(std::exchange(thread.error, nullptr));
  if (thread.state == State::done) finish_rendezvous(thread.warp);
}

void Block::release_barrier() {
  const Thread* first = nullptr;
  const auto block = std::span(threads()).first(count_);
  for (const auto& thread : block) {
    if (thread->state == State::in_warp) {
      throw Fault(fmt::format("{}waits at {} ({}) for lanes that do not come", place(thread.get()),
                              thread->waits_at, text(thread->where)));
    }
    if (thread->state != State::at_barrier) continue;
    if (first == nullptr) first = thread.get();
    if (thread->where.line() != first->where.line()) {
      throw Fault(fmt::format("{}waits at {} ({}), but thread {} at {} ({})", place(thread.get()),
                              thread->waits_at, text(thread->where), text(first->index),
                              first->waits_at, text(first->where)));
    }
  }
  for (const auto& thread : block) {
    if (thread->state == State::at_barrier) thread->state = State::ready;
  }
}

void Block::wait(State state, std::string_view what, const std::source_location& where) {
  Thread& self = thread();
  self.state = state;
  self.waits_at = what;
  self.where = where;
  Fiber::suspend();
}

void Block::barrier(std::string_view what, const std::source_location& where) {
  wait(State::at_barrier, what, where);
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
  if (found->arrived == (mask & live_lanes(self.warp))) {
    finish_rendezvous(self.warp);
  } else {
    wait(State::in_warp, what, where);
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

void Block::enter_shared(void* array, std::size_t bytes, std::size_t alignment) {
  auto* const first = static_cast<std::byte*>(array);
  std::size_t total = bytes;
  std::size_t end = 0;
  for (const SharedArray& known : shared_) {
    if (known.bytes.data() == first) return;
    total += known.bytes.size();
    end = known.address + known.bytes.size();
  }
  if (total > kMostSharedBytes) fault(fmt::format("{} bytes of shared memory", total));
  std::memset(array, 0xFF, bytes);
  // No better aligned than asked for, and not next to another: neither may be relied on.
  const std::size_t step = std::max(2 * alignment, kGap);
  const std::size_t address = (end / step + 1) * step + alignment;
  shared_.push_back({{first, bytes}, static_cast<std::uint32_t>(address)});
}

std::uint32_t Block::shared_address(const void* pointer) const {
  for (const SharedArray& array : shared_) {
    const std::ptrdiff_t offset = static_cast<const std::byte*>(pointer) - array.bytes.data();
    if (offset >= 0 && offset <= std::ssize(array.bytes)) {
      return array.address + static_cast<std::uint32_t>(offset);
    }
  }
  fault("takes the shared address of what is not shared memory");
}

std::byte* Block::shared_pointer(std::uint32_t address, std::size_t bytes) const {
  for (const SharedArray& array : shared_) {
    if (address >= array.address && address + bytes <= array.address + array.bytes.size()) {
      return &array.bytes[address - array.address];
    }
  }
  fault(fmt::format("accesses {} bytes at shared address {:#x}, outside every shared array", bytes,
                    address));
}

}  // namespace ridgepoint::emulator
