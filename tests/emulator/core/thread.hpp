// A thread of a kernel: its fiber, its position in the block, and what it waits for.
#pragma once

#include <vector_types.h>

#include <array>
#include <cstdint>
#include <exception>
#include <source_location>
#include <string_view>

#include "tests/emulator/core/fiber.hpp"
#include "tests/emulator/hopper/bulk_stores.hpp"
#include "tests/emulator/ptx/async_copies.hpp"

namespace ridgebench::emulator {

class Block;

inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kWarpgroup = 128;
inline constexpr std::uint32_t kWholeWarp = 0xffffffffU;

enum class State { ready, yielding, at_barrier, together, polling, at_cluster_barrier, done };

// State of a thread at barrier.cluster: others can arrive between its arrival and its wait.
enum class Arrival { none, arrived, completed };

// The phase whose completion a thread polls for.
struct Poll {
  std::uint32_t barrier = 0;
  unsigned parity = 0;
};

struct Thread {
  explicit Thread(void (*body)()) : fiber(body) {}

  void start(Block& own_block, unsigned own_number, dim3 size) {
    block = &own_block;
    number = own_number;
    index = {number % size.x, number / size.x % size.y, number / (size.x * size.y)};
    warp = number / kWarp;
    lane = number % kWarp;
    state = State::ready;
    cluster_arrival = Arrival::none;
    waited_for_grid = false;
    copies.forget();
    stores.forget();
  }

  Fiber fiber;
  Block* block = nullptr;
  unsigned number = 0;
  uint3 index{};
  unsigned warp = 0;
  unsigned lane = 0;
  State state = State::ready;
  std::string_view waits_at;
  std::source_location where;
  unsigned barrier = 0;  // at_barrier: its number
  Poll poll;             // polling
  Arrival cluster_arrival = Arrival::none;
  bool waited_for_grid = false;  // griddepcontrol.wait
  std::exception_ptr error;
  AsyncCopies copies;
  BulkStores stores;
};

// One pointer per lane, null if the lane does not take part; or one per thread of a warpgroup.
using Lanes = std::array<void*, kWarp>;
using Warpgroup = std::array<void*, kWarpgroup>;

}  // namespace ridgebench::emulator
