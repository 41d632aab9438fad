// The events of a step's program, without a device.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <variant>
#include <vector>

#include "harness/step/arena.hpp"
#include "harness/step/chain.hpp"
#include "harness/step/step_program.hpp"

namespace ridgebench {

// Runs through the events, and checks that each launch meets tensors that live. Returns the arena
// as the step leaves it.
inline Arena run_through(const StepProgram& program) {
  Arena arena;
  std::map<TensorId, std::int64_t> offsets;
  for (const StepEvent& event : program.events()) {
    if (const auto* const allocate = std::get_if<Allocate>(&event)) {
      const StepTensor& tensor = program.tensors()[allocate->tensor];
      offsets[allocate->tensor] = arena.allocate(tensor.bytes(), tensor.kind);
    } else if (const auto* const free = std::get_if<Free>(&event)) {
      arena.release(offsets.at(free->tensor));
      offsets.erase(free->tensor);
    } else {
      const StepLaunch& launch = program.launches()[std::get<RunLaunch>(event).launch];
      for (const auto& [name, id] : launch.operands) {
        const StepTensor& tensor = program.tensors()[id];
        EXPECT_TRUE(offsets.contains(tensor.part ? tensor.part->of : id))
            << launch.name << " reads " << tensor.name << ", which is not live";
      }
    }
  }
  return arena;
}

// The bytes that live at each launch, as the arena counts them.
inline std::vector<std::int64_t> live_at_launches(const StepProgram& program) {
  std::vector<std::int64_t> sums;
  for (const LiveBytes& live : place(program).at_launches) {
    sums.push_back(0);
    for (const auto& [kind, bytes] : live) sums.back() += bytes;
  }
  return sums;
}

}  // namespace ridgebench
