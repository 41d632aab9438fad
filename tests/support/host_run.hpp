// Runs host techniques on guarded operands and compares them with their operation's reference.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "harness/measure/verifying/verification.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "tests/support/guarded_array.hpp"
#include "tests/support/host_queue.hpp"

namespace ridgebench {

// Calls `check` for every technique of the operation in every format, and for every instruction set
// that this processor has (a run of the suite keeps the newest alone).
inline void for_each_host_technique(std::string_view operation,
                                    const std::function<void(const Implementation&)>& check) {
  int checked = 0;
  for (const Isa isa : {Isa::none, Isa::v2, Isa::v3, Isa::v4, Isa::armv8, Isa::sve}) {
    if (isa > host_isa()) continue;
    Registry registry;
    for (const auto& o : Registry::instance().operations()) {
      if (o->name == operation) registry.add(*o);
    }
    for (const auto& i : Registry::instance().implementations()) {
      const Technique& t = i->technique;
      if (t.operation == operation && t.isa == isa && i->backend == Backend::cpu) registry.add(*i);
    }
    registry.resolve();
    for (const auto& i : registry.implementations()) {
      SCOPED_TRACE(std::string(operation) + "/" + std::string(i->technique.name) + "/" +
                   i->format.name() + " " + std::string(name(isa)));
      check(*i);
      ++checked;
    }
  }
  EXPECT_GT(checked, 0) << "no technique of " << operation;
}

class HostRun {
 public:
  // Operand number i starts i + `offset` elements past an aligned address.
  HostRun(const Implementation& implementation, const Shape& shape, std::int64_t offset = 0)
      : implementation_(implementation), shape_(shape) {
    for (const Operand& o : implementation.operation->operands(shape, implementation.format)) {
      arrays_.emplace_back(o, offset == 0 ? 0 : offset + std::ssize(arrays_));
    }
  }

  void fill(Fill fill) {
    for (std::uint32_t i = 0; i + 1 < arrays_.size(); ++i) arrays_[i].fill(fill, i);
  }
  GuardedArray& array(std::size_t index) { return arrays_[index]; }
  GuardedArray& output() { return arrays_.back(); }

  // Launches, by default once, with the output poisoned before each. False where the technique does
  // not serve the case.
  bool launch(int times = 1) {
    // Tests of CUDA techniques check this with the machine that they emulate.
    const bool host = implementation_.backend == Backend::cpu;
    if (host && implementation_.unsupported(Machine{}, shape_)) return false;
    std::vector<void*> pointers;
    for (GuardedArray& array : arrays_) pointers.push_back(array.data());
    try {
      const Plan plan = implementation_.prepare ? implementation_.prepare(queue_, shape_) : nullptr;
      const Launch launch = implementation_.bind(queue_, plan, shape_, pointers);
      for (int i = 0; i < times; ++i) {
        output().poison();
        launch();
      }
    } catch (const Unsupported&) {
      return false;
    }
    for (const GuardedArray& array : arrays_) EXPECT_TRUE(array.guards_hold());
    return true;
  }

  // All of the output against the reference for `reference_shape`.
  Verification verify(const Shape& reference_shape) {
    const Problem problem(*implementation_.operation, reference_shape, implementation_.format);
    const auto inputs = [this] {
      std::vector<View> views;
      for (std::size_t i = 0; i + 1 < arrays_.size(); ++i) views.push_back(arrays_[i].view());
      return views;
    };
    const std::vector<std::int64_t> rows = problem.all_rows();
    const View written = output().view();
    ReferenceCache reference;
    return compare(implementation_, problem, {&written, 1}, rows,
                   reference.get("", problem, inputs, rows));
  }
  Verification verify() { return verify(shape_); }

 private:
  const Implementation& implementation_;
  Shape shape_;
  HostQueue queue_;
  std::vector<GuardedArray> arrays_;
};

// Random data within the tolerance, integers to the last bit.
inline void expect_right(const Implementation& implementation, const Shape& shape,
                         std::int64_t offset, bool integers_exact) {
  SCOPED_TRACE(shape.text() + " offset " + std::to_string(offset));
  HostRun run(implementation, shape, offset);
  run.fill(Fill::normal);
  if (!run.launch()) return;
  EXPECT_LE(run.verify().error, 1);
  if (!integers_exact) return;
  run.fill(Fill::integers);
  ASSERT_TRUE(run.launch());
  EXPECT_TRUE(run.verify().exact);
}

// Sizes around the widths of registers and blocks, and primes.
inline const std::vector<std::int64_t> kAwkwardSizes{1,  2,  7,   15,  17,  31,  33,  63,
                                                     64, 65, 127, 129, 255, 256, 257, 4099};
// Many blocks for each thread, and a remainder.
inline constexpr std::int64_t kManyBlocks = 1000003;

}  // namespace ridgebench
