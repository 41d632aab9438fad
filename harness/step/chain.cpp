#include "harness/step/chain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "harness/device/isolated/remote_launch.hpp"
#include "harness/measure/buffers.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr int kTrials = 3;  // launches by which a technique is chosen

// Returns true for a technique that a chain tries only if no other one serves, because it takes
// long to set up or to run.
bool is_last_resort(const Implementation& one) {
  return one.technique.pace == Pace::naive || one.technique.name.ends_with("_tuned");
}

std::string listed(const std::vector<std::string_view>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<const Implementation*> serving(const StepLaunch& launch,
                                           const TechniqueRequest& request, const Device& device) {
  const Registry& registry = Registry::instance();
  const auto named = request.named.find(launch.operation);
  std::vector<const Implementation*> found;
  std::vector<std::string_view> names;
  std::string reasons;
  for (const auto& one : registry.implementations()) {
    const bool fits = one->technique.operation == launch.operation &&
                      one->backend == device.backend() && one->format == launch.format &&
                      !one->of_user();
    if (!fits) continue;
    names.push_back(one->technique.name);
    if (named != request.named.end() && one->technique.name != named->second) continue;
    if (const auto reason = one->unsupported(device.machine(), launch.shape)) {
      reasons += fmt::format("; {}: {}", one->technique.name, *reason);
    } else {
      found.push_back(one.get());
    }
  }
  if (named != request.named.end() && std::ranges::find(names, named->second) == names.end()) {
    throw UsageError(fmt::format(
        "--technique {}={}: the operation has no such technique in {} on "
        "{}; allowed: {}",
        launch.operation, named->second, launch.format.name(), device.name(), listed(names)));
  }
  if (found.empty()) {
    throw Unsupported(fmt::format("no technique serves {} of {} in {} on {}{}", launch.operation,
                                  launch.shape.text(), launch.format.name(), device.name(),
                                  reasons));
  }
  return found;
}

void require_techniques(const StepProgram& program, const TechniqueRequest& request,
                        const Device& device) {
  for (const auto& [operation, technique] : request.named) {
    if (program.count(operation) > 0) continue;
    std::vector<std::string_view> names;
    for (const StepLaunch& launch : program.launches()) {
      if (std::ranges::find(names, launch.operation) == names.end()) {
        names.push_back(launch.operation);
      }
    }
    throw UsageError(fmt::format("--technique {}={}: the step has no {}; allowed: {}", operation,
                                 technique, operation, listed(names)));
  }
  std::set<std::pair<std::string, std::string>> known;
  for (const StepLaunch& launch : program.launches()) {
    if (known.emplace(launch.operation, launch.shape.text()).second) {
      static_cast<void>(serving(launch, request, device));
    }
  }
}

Placement place(const StepProgram& program) {
  Placement placement;
  placement.offsets.resize(program.tensors().size());
  Arena arena;
  for (const StepEvent& event : program.events()) {
    if (const auto* const allocate = std::get_if<Allocate>(&event)) {
      const StepTensor& tensor = program.tensors()[allocate->tensor];
      placement.offsets[allocate->tensor] = arena.allocate(tensor.bytes(), tensor.kind);
    } else if (const auto* const free = std::get_if<Free>(&event)) {
      arena.release(placement.offsets[free->tensor]);
    } else {
      placement.at_launches.push_back(arena.live());
    }
  }
  for (TensorId id = 0; id < program.tensors().size(); ++id) {
    const StepTensor& tensor = program.tensors()[id];
    if (!tensor.part) continue;
    placement.offsets[id] =
        placement.offsets[tensor.part->of] + tensor.part->first * info(tensor.format).storage_bytes;
  }
  placement.peak_bytes = arena.peak_bytes();
  placement.extent_bytes = arena.extent_bytes();
  return placement;
}

Chain::Chain(Device& device, StepProgram program, const TechniqueRequest& request,
             std::uint64_t seed)
    : Chain(device, program, place(program), request, seed) {}

Chain::Chain(Device& device, StepProgram program, Placement placement,
             const TechniqueRequest& request, std::uint64_t seed)
    : device_(&device),
      program_(std::move(program)),
      seed_(seed),
      placement_(std::move(placement)) {
  const auto needed = static_cast<double>(placement_.extent_bytes);
  if (needed > device.free_bytes()) throw OutOfMemory(needed, device.free_bytes());
  memory_ = device.queue().allocate(static_cast<std::size_t>(placement_.extent_bytes));
  fill();
  for (const StepLaunch& launch : program_.launches()) {
    auto& bound = chosen_[{launch.operation, launch.shape.text()}];
    if (!bound) bound = std::make_unique<Bound>(choose(launch, request));
    bound_.push_back(bound.get());
    launches_.push_back(bind(*bound, addresses(launch, bound->problem)));
  }
}

void* Chain::data(TensorId tensor) const {
  return static_cast<std::byte*>(memory_.get()) + placement_.offsets[tensor];
}

std::int64_t Chain::touched_bytes(std::span<const std::size_t> launches) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;  // first byte and end
  for (const std::size_t launch : launches) {
    for (const auto& [operand, tensor] : program_.launches()[launch].operands) {
      const std::int64_t first = placement_.offsets[tensor];
      spans.emplace_back(first, first + program_.tensors()[tensor].bytes());
    }
  }
  std::ranges::sort(spans);
  std::int64_t touched = 0;
  std::int64_t end = 0;
  for (const auto& [first, last] : spans) {
    touched += std::max<std::int64_t>(0, last - std::max(first, end));
    end = std::max(end, last);
  }
  return touched;
}

// Times a few launches of each candidate on the tensors of the launch, and takes the fastest.
Chain::Bound Chain::choose(const StepLaunch& launch, const TechniqueRequest& request) const {
  std::vector<const Implementation*> candidates = serving(launch, request, *device_);
  const auto keep = [&](const auto& condition) {
    if (std::ranges::any_of(candidates, condition)) {
      std::erase_if(candidates, [&](const Implementation* one) { return !condition(one); });
    }
  };
  const Origin origin = request.library ? Origin::library : Origin::hand;
  keep([&](const Implementation* one) { return one->technique.origin == origin; });
  keep([](const Implementation* one) { return !is_last_resort(*one); });
  const Operation& operation = Registry::instance().operation(launch.operation);
  Bound best{Problem(operation, launch.shape, launch.format), nullptr, nullptr};
  const std::vector<void*> operands = addresses(launch, best.problem);
  double best_s = std::numeric_limits<double>::infinity();
  for (const Implementation* const one : candidates) {
    Bound trial{best.problem, one, nullptr};
    if (one->prepare) trial.plan = one->prepare(device_->queue(), launch.shape);
    double seconds = 0;
    if (candidates.size() > 1) {
      const Launch tried = bind(trial, operands);
      device_->run(tried);
      seconds = std::numeric_limits<double>::infinity();
      for (int i = 0; i < kTrials; ++i) seconds = std::min(seconds, device_->queue().time(tried));
    }
    if (best.implementation != nullptr && seconds >= best_s) continue;
    best_s = seconds;
    best = std::move(trial);
  }
  return best;
}

std::vector<void*> Chain::addresses(const StepLaunch& launch, const Problem& problem) const {
  std::vector<void*> operands;
  for (const Operand& operand : problem.operands) {
    const auto found =
        std::ranges::find(launch.operands, operand.name, &std::pair<std::string, TensorId>::first);
    if (found == launch.operands.end()) {
      throw std::logic_error(
          fmt::format("a step binds no {} of {}", operand.name, launch.operation));
    }
    const StepTensor& tensor = program_.tensors()[found->second];
    if (tensor.elements != operand.elements || tensor.format != operand.format) {
      throw std::logic_error(fmt::format("{} of {} has another size or format than {}",
                                         operand.name, launch.operation, tensor.name));
    }
    operands.push_back(data(found->second));
  }
  return operands;
}

Launch Chain::bind(const Bound& bound, const std::vector<void*>& operands) const {
  return with_plan(bound.plan, bound.implementation->bind(device_->queue(), bound.plan,
                                                          bound.problem.shape, operands));
}

void Chain::fill() {
  for (TensorId id = 0; id < program_.tensors().size(); ++id) {
    const StepTensor& tensor = program_.tensors()[id];
    if (tensor.has_values()) fill(tensor, data(id));
  }
}

void Chain::fill(const StepTensor& tensor, void* out) const {
  DeviceMemory& memory = device_->memory();
  if (tensor.deviation == 0 || tensor.deviation == 1) {
    memory.fill(out, tensor.elements, tensor.format,
                {.values = tensor.values, .seed = seed_, .stream = tensor.stream});
    return;
  }
  std::vector<float> numbers(static_cast<std::size_t>(tensor.elements));
  fill_random(numbers.data(), tensor.elements, Format::fp32, Fill::normal, seed_, tensor.stream,
              device_->queue().threads());
  const FormatInfo& format = info(tensor.format);
  const auto size = static_cast<std::size_t>(format.storage_bytes);
  std::vector<std::byte> stored(numbers.size() * size);
  const auto deviation = static_cast<float>(tensor.deviation);
#pragma omp parallel for
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint32_t bits = encode_bits(format, deviation * numbers[i]);
    std::memcpy(&stored[i * size], &bits, size);  // the low bytes come first
  }
  memory.write(out, stored);
}

std::uint64_t Chain::checksum(const std::string& kind) const {
  constexpr std::uint64_t kOdd = 0xD6E8FEB86659FD93;  // keeps the order of the tensors apart
  std::uint64_t sum = 0;
  for (TensorId id = 0; id < program_.tensors().size(); ++id) {
    const StepTensor& tensor = program_.tensors()[id];
    if (tensor.kind != kind || tensor.part) continue;
    const auto bytes = static_cast<std::size_t>(tensor.bytes());
    sum = kOdd * sum + device_->memory().checksum({static_cast<std::byte*>(data(id)), bytes});
  }
  return sum;
}

}  // namespace ridgebench
