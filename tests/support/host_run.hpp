// Runs host techniques on guarded operands and compares them with their operation's reference.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
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
      if (o.access == Access::updated) before_.emplace(arrays_.size(), GuardedArray(o, 0));
      arrays_.emplace_back(o, offset == 0 ? 0 : offset + std::ssize(arrays_));
    }
  }

  // Fills the inputs, those that a launch updates among them.
  void fill(Fill fill) {
    for (std::uint32_t i = 0; i < arrays_.size(); ++i) {
      if (arrays_[i].operand().is_input()) array(i).fill(fill, i);
    }
  }
  // Operand number `index` as it is before a launch.
  GuardedArray& array(std::size_t index) {
    const auto found = before_.find(index);
    return found == before_.end() ? arrays_[index] : found->second;
  }
  // The memory that a launch gets, operand by operand. The last operand is an output.
  std::vector<GuardedArray>& launched() { return arrays_; }
  GuardedArray& output() { return arrays_.back(); }
  // One view of every operand that a launch reads, as it is before the launch.
  std::vector<View> inputs() {
    std::vector<View> views;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      if (arrays_[i].operand().is_input()) views.push_back(array(i).view());
    }
    return views;
  }

  // Launches, by default once. Before each launch, the operands that it updates are restored, and
  // other outputs are poisoned. False where the technique does not serve the case.
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
        prepare_outputs();
        launch();
      }
    } catch (const Unsupported&) {
      return false;
    }
    for (const GuardedArray& array : arrays_) EXPECT_TRUE(array.guards_hold());
    return true;
  }

  // All outputs against the reference for `reference_shape`.
  Verification verify(const Shape& reference_shape) {
    const Problem problem(*implementation_.operation, reference_shape, implementation_.format);
    const std::vector<std::int64_t> rows = problem.all_rows();
    std::vector<View> written;
    std::vector<std::vector<std::uint8_t>> copies(problem.outputs.size());
    for (const Output& output : problem.outputs) {
      written.push_back(arrays_[output.index].rows(copies[written.size()]));
    }
    ReferenceCache reference;
    return compare(implementation_, problem, written, rows,
                   reference.get("", problem, [this] { return inputs(); }, rows));
  }
  Verification verify() { return verify(shape_); }

 private:
  void prepare_outputs() {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const Access access = arrays_[i].operand().access;
      if (access == Access::updated) arrays_[i].copy_from(before_.at(i));
      if (access == Access::written) arrays_[i].poison();
    }
  }

  const Implementation& implementation_;
  Shape shape_;
  HostQueue queue_;
  std::vector<GuardedArray> arrays_;
  std::map<std::size_t, GuardedArray> before_;  // of operands that a launch updates
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
