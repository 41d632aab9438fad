// A row around a kernel that a test makes up, without a registry.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "harness/measure/case.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {

// y = x over n numbers in fp32, or whatever `kernel` makes of it; one FLOP per element.
class MadeUpCase {
 public:
  using Kernel = std::function<void(const float* x, float* y, std::int64_t n)>;

  static void copy(const float* x, float* y, std::int64_t n) { std::copy_n(x, n, y); }

  explicit MadeUpCase(Device& device, Kernel kernel = copy, std::int64_t n = 1000)
      : device_(&device), shape_({{"n", n}}) {
    operation.name = "identity";
    operation.dimensions = {"n"};
    operation.formats = {Format::fp32};
    operation.flops = [](const Shape& s) { return static_cast<double>(s["n"]); };
    operation.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
      return {{"x", s["n"], f.a, Access::read, {}, kRowLength},
              {"y", s["n"], f.a, Access::written}};
    };
    operation.row_length = [](const Shape&) { return kRowLength; };
    operation.reference = [](const Shape&, std::int64_t row, std::span<const View> in,
                             std::span<Expected> out) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double x = in[0][row * kRowLength + static_cast<std::int64_t>(i)];
        out[i] = {x, std::abs(x)};
      }
    };
    operation.reduction = [](const Shape&) { return 1.0; };
    implementation.bind = [this, run = std::move(kernel)](
                              Queue&, const Plan&, const Shape& shape,
                              std::span<void* const> operands) -> Launch {
      if (auto* simulated = dynamic_cast<SimulatedDevice*>(device_)) {
        simulated->set_work(get().work());  // a clock that no launch moves
      }
      return [=, n = shape["n"], x = static_cast<const float*>(operands[0]),
              y = static_cast<float*>(operands[1])] { run(x, y, n); };
    };
    implementation.signature.count = 2;
    implementation.operation = &operation;
    implementation.technique = {
        .operation = "identity", .name = "made_up", .engine = Engine::memory};
  }
  MadeUpCase(const MadeUpCase&) = delete;  // rows point into it
  MadeUpCase& operator=(const MadeUpCase&) = delete;

  // As the members stand now; it lives no longer than this.
  [[nodiscard]] Case get(Regime regime = Regime::steady) const {
    return {.operation = &operation,
            .technique = implementation.technique,
            .implementation = &implementation,
            .device = device_,
            .format = Format::fp32,
            .shape = shape_,
            .regime = regime};
  }

  Operation operation;
  Implementation implementation;

 private:
  static constexpr std::int64_t kRowLength = 64;
  Device* device_;
  Shape shape_;
};

}  // namespace ridgebench
