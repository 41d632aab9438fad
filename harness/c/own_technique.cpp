#include "harness/c/own_technique.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "harness/c/texts.hpp"
#include "harness/measure/verifying/tolerance.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// A set of buffers that the caller's kernel was bound to.
class BoundSet {
 public:
  BoundSet(const ridgebench_technique& technique, std::int64_t set,
           std::shared_ptr<CallerThread> thread)
      : technique_(technique), set_(set), thread_(std::move(thread)) {
    thread_->bound();
  }
  BoundSet(const BoundSet&) = delete;  // releases the set once
  BoundSet& operator=(const BoundSet&) = delete;
  ~BoundSet() {
    technique_.release(technique_.user, set_);
    thread_->released();
  }

  void launch() const {
    Message message;  // not filled: this is timed
    message.front() = 0;
    message.back() = 0;
    if (technique_.launch(technique_.user, set_, message.data()) != 0) {
      throw std::runtime_error(line_of(message));
    }
  }

 private:
  ridgebench_technique technique_;
  std::int64_t set_;
  std::shared_ptr<CallerThread> thread_;
};

Signature signature_of(const Operation& operation, FormatPair format) {
  Signature signature;
  for (const Operand& operand : operation.operands(unit_shape(operation), format)) {
    signature.parameters.at(signature.count++) = {operand.format, operand.access == Access::read};
  }
  return signature;
}

}  // namespace

OwnTechnique::OwnTechnique(const ridgebench_technique& described, const OwnOperation& operation)
    : operation_(operation.name()),
      name_(checked_name("kernel", described.name)),
      backend_(parse<Backend>(text_of(described.backend))),
      formats_(formats_of("kernel " + name_, described.formats)),
      engine_(parse<Engine>(text_of(described.engine))),
      approximation_error_(described.approximation_error),
      callbacks_(described) {
  for (const FormatPair format : formats_) {
    if (std::ranges::find(operation.formats(), format) != operation.formats().end()) continue;
    std::vector<std::string> allowed;
    for (const FormatPair one : operation.formats()) allowed.push_back(one.name());
    throw UsageError(fmt::format("kernel {} serves {}, which {} does not have; allowed: {}", name_,
                                 format.name(), operation_, fmt::join(allowed, ", ")));
  }
  if (described.arithmetic != nullptr) arithmetic_ = parse_format(described.arithmetic);
  if (!(approximation_error_ >= 0 && approximation_error_ < kMostError)) {
    throw UsageError(
        fmt::format("an error of {} of kernel {}; allowed: 0 to less than {}, relative",
                    approximation_error_, name_, kMostError));
  }
  if (!callbacks_.bind || !callbacks_.launch || !callbacks_.release) {
    throw UsageError(fmt::format("kernel {} lacks bind, launch or release", name_));
  }
}

Bind OwnTechnique::binder(FormatPair format, const std::shared_ptr<CallerThread>& thread) const {
  return [this, format, thread](Queue& queue, const Plan&, const Shape& shape,
                                std::span<void* const> operands) -> Launch {
    const std::vector<std::int64_t> sizes = shape.sizes();
    std::vector<double> attributes;
    for (const auto& [label, value] : shape.attributes()) attributes.push_back(value);
    Message message{};
    const std::int64_t set =
        callbacks_.bind(callbacks_.user, format.name().c_str(), sizes.data(), attributes.data(),
                        operands.data(), queue.stream(), message.data());
    if (set < 0) throw std::runtime_error(line_of(message));
    return [bound = std::make_shared<BoundSet>(callbacks_, set, thread)] { bound->launch(); };
  };
}

std::vector<Implementation> OwnTechnique::implementations(
    const Operation& operation, double launch_floor_s,
    const std::shared_ptr<CallerThread>& thread) const {
  // A shape that was not added is refused before the run makes a folder: flops() throws.
  const auto require_flops = [flops = operation.flops](const Machine&, const Shape& shape,
                                                       FormatPair) -> std::optional<std::string> {
    flops(shape);
    return std::nullopt;
  };
  std::vector<Implementation> all;
  for (const FormatPair format : formats_) {
    Implementation& one = all.emplace_back();
    one.technique = {.operation = operation_,
                     .name = name_,
                     .engine = engine_,
                     .arithmetic = arithmetic_,
                     .supports = require_flops,
                     .approximation_error = approximation_error_};
    one.backend = backend_;
    one.signature = signature_of(operation, format);
    one.bind = binder(format, thread);
    one.launch_floor_s = launch_floor_s;
    one.calls_back = true;
  }
  return all;
}

}  // namespace ridgebench
