// The work of a launch.
#pragma once

#include <vector_types.h>

#include <cstddef>
#include <functional>
#include <string>

#include "tests/emulator/emulator.hpp"

namespace ridgebench::emulator {

struct Work {
  std::string kernel;            // empty: the kernel names itself
  std::function<void()> thread;  // of one thread
  dim3 grid;
  dim3 block;
  std::size_t shared;  // bytes of dynamic memory
  unsigned cluster;    // blocks, along x
  bool dependent;      // programmatic dependent launch
  Order order;

  [[nodiscard]] std::size_t threads() const { return std::size_t{block.x} * block.y * block.z; }
  // The order in which `count` items are taken.
  [[nodiscard]] std::size_t ordered(std::size_t index, std::size_t count) const {
    return order == Order::descending ? count - 1 - index : index;
  }
};

}  // namespace ridgebench::emulator
