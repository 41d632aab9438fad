// Runs a test in the order of threads that shows a mistake, and in those that hide it.
#pragma once

#include <array>

#include "tests/emulator/fault_of.hpp"

namespace ridgebench::emulator {

// What `run` returns in each order.
template <class Run>
auto in_every_order(const Run& run) {
  const auto ascending = run();
  set_order(Order::descending);
  const auto descending = run();
  set_order(Order::hesitant);
  const auto hesitant = run();
  set_order(Order::ascending);
  return std::array{ascending, descending, hesitant};
}

}  // namespace ridgebench::emulator
