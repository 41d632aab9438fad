// The outputs of each launch of a chain against the reference of its operation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/measure/verifying/outputs.hpp"
#include "harness/measure/verifying/reference.hpp"
#include "harness/measure/verifying/verification.hpp"
#include "harness/step/chain.hpp"

namespace ridgebench {
namespace {

// Cost of the comparison of a launch, in the unit of kSampleCost.
constexpr double kLaunchCost = 0x1p22;

// Copies of what a launch reads, as it was before the launch.
std::vector<View> inputs_of(DeviceMemory& memory, const Problem& problem,
                            std::span<void* const> operands, std::vector<HostBuffer>& copies) {
  std::vector<View> views;
  copies.resize(std::max(copies.size(), problem.operands.size()));
  HostBuffer scratch;
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    const Operand& operand = problem.operands[i];
    if (!operand.is_input()) continue;
    const DeviceMemory::Region region = region_of(operand, operands[i]);
    const std::byte* const there = memory.on_host({&region, 1}, scratch);
    std::byte* const copy = copies[i].resize(region.size());
    std::copy_n(there, region.size(), copy);
    views.push_back({copy, operand.format});
  }
  return views;
}

// The outputs that the launch does not read, filled with NaN.
void poison_outputs(DeviceMemory& memory, const Problem& problem, std::span<void* const> operands) {
  std::vector<DeviceMemory::Region> regions;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = problem.operands[i];
    const bool read = std::ranges::count(operands, operands[i]) > 1;  // the same tensor
    if (operand.access == Access::written && !read) {
      regions.push_back(region_of(operand, operands[i]));
    }
  }
  if (!regions.empty()) Buffers::poison(memory, regions);
}

}  // namespace

ChainCheck Chain::check(std::uint64_t seed) {
  ChainCheck result;
  fill();
  for (std::size_t i = 0; i < launches_.size() && result.passed(); ++i) {
    check_launch(i, seed + i, result);
  }
  return result;
}

void Chain::check_launch(std::size_t launch, std::uint64_t seed, ChainCheck& result) {
  const Problem& of = problem(launch);
  const std::vector<void*> operands = addresses(program_.launches()[launch], of);
  DeviceMemory& memory = device_->memory();
  std::vector<HostBuffer> inputs;
  const std::vector<View> before = inputs_of(memory, of, operands, inputs);
  poison_outputs(memory, of, operands);
  device_->run(launches_[launch]);
  const std::vector<std::int64_t> rows = rows_to_check(of, seed, kLaunchCost);
  std::vector<HostBuffer> outputs;
  const std::vector<View> after = read_rows(memory, of.outputs, rows, operands, outputs);
  std::vector<Expected> expected = reference_of(of, before, rows);
  // The terms of a chain's sums may have one sign, as those behind a ReLU. Their partial sums then
  // exceed the norm of the terms, up to the sum itself, and a rounding error grows with them.
  for (Expected& one : expected) one.norm = std::max(one.norm, std::abs(one.value));
  const Verification found = compare(implementation(launch), of, after, rows, expected);
  result.tensors += std::ssize(of.outputs);
  result.elements += found.elements;
  result.error = std::max(result.error, found.error);
  const bool nan = outputs_hold_nan(memory, of.outputs, operands);
  if (found.passed() && !nan) return;
  const StepLaunch& named = program_.launches()[launch];
  result.wrong = fmt::format(
      "launch {} ({}, {} of {}, {}): {}", launch, named.name, named.operation, named.shape.text(),
      implementation(launch).technique.name,
      nan ? "the output holds NaN"
          : fmt::format("the output differs from the reference by {:.3g} x the tolerance",
                        found.error));
}

}  // namespace ridgebench
