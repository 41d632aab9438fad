// A step as the list of its launches, with the tensors that they read and write and when these
// live. It is pure planning: a chain places the tensors in an arena, binds the launches and runs
// them in this order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/common/format.hpp"
#include "kernels/common/random.hpp"
#include "kernels/common/shape.hpp"

namespace ridgebench {

// Number of a tensor of a program.
using TensorId = std::size_t;

struct StepTensor {
  std::string name;  // "W3", "dh2"
  std::string kind;  // "parameters", "gradients", "optimizer", "input", "activations", "loss"
  std::int64_t elements = 0;
  Format format = Format::fp32;
  // Its contents before the step: numbers of `values`, or normal numbers of this standard
  // deviation; nothing if neither is set, because a launch writes the tensor first. Tensors of one
  // `stream` hold the same numbers, each rounded to its own format.
  Values values = {};
  double deviation = 0;
  std::uint32_t stream = 0;
  // A part of another tensor, from that element on. It lives with the other one.
  struct Part {
    TensorId of;
    std::int64_t first;
  };
  std::optional<Part> part = std::nullopt;

  [[nodiscard]] bool has_values() const {
    return deviation > 0 || values.kind != Values::Kind::of_the_run;
  }
  [[nodiscard]] std::int64_t bytes() const { return elements * info(format).storage_bytes; }
};

// A launch of an operation. Its operands are named as the operation names them.
struct StepLaunch {
  std::string name;   // of the part of the step: "forward", "dX", "dW", ...
  std::string phase;  // "forward", "backward", "step", "zero"
  std::string operation;
  Shape shape;
  FormatPair format = Format::fp32;
  std::vector<std::pair<std::string, TensorId>> operands;
};

// Events of a step, in their order.
struct Allocate {
  TensorId tensor;
};
struct Free {
  TensorId tensor;
};
struct RunLaunch {
  std::size_t launch;
};
using StepEvent = std::variant<Allocate, Free, RunLaunch>;

class StepProgram {
 public:
  // A tensor that lives from here on, or from the beginning of the step to its end.
  TensorId allocate(StepTensor tensor);
  TensorId part_of(TensorId whole, std::string name, std::int64_t first, std::int64_t elements);
  void free(TensorId tensor);
  void launch(StepLaunch launch);

  [[nodiscard]] const std::vector<StepTensor>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<StepLaunch>& launches() const { return launches_; }
  [[nodiscard]] const std::vector<StepEvent>& events() const { return events_; }
  // The number of launches of an operation.
  [[nodiscard]] std::int64_t count(std::string_view operation) const;

 private:
  std::vector<StepTensor> tensors_;
  std::vector<StepLaunch> launches_;
  std::vector<StepEvent> events_;
};

}  // namespace ridgebench
