#include "harness/c/own_operation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "harness/c/texts.hpp"
#include "harness/device/cpu/free_memory.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

constexpr double kMostElements = 0x1p50;
constexpr double kMostFlops = 1e30;

void require_unique(const std::string& what, std::vector<std::string> names) {
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) throw UsageError(fmt::format("{} '{}' comes twice", what, *twice));
}

// The inputs in double. Linux would end the process if the reference took more than there is.
std::vector<std::vector<double>> as_double(std::span<const View> in,
                                           const std::vector<Operand>& operands) {
  // Beside the inputs: values, norms, and both of them once more as Expected.
  double numbers = 4 * static_cast<double>(operands.back().elements);
  for (std::size_t i = 0; i < in.size(); ++i) numbers += static_cast<double>(operands[i].elements);
  const double asked = numbers * sizeof(double);
  if (const double free = allocatable_bytes(); asked > free) throw OutOfMemory(asked, free);
  std::vector<std::vector<double>> inputs(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    inputs[i].resize(static_cast<std::size_t>(operands[i].elements));
    in[i].read(0, inputs[i]);
  }
  return inputs;
}

// See ridgebench_reference in ridgebench.h.
void fill_norms(std::span<const double> values, double terms, std::span<double> norms) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  const double mean = std::sqrt(squares / static_cast<double>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    norms[i] = terms > 1 ? std::max(std::abs(values[i]), mean) : std::abs(values[i]);
  }
}

}  // namespace

OwnOperation::OwnOperation(const ridgebench_operation& described)
    : name_(checked_name("operation", described.name)),
      dimensions_(parts_of(text_of(described.dimensions))),
      formats_(formats_of("operation " + name_, described.formats)),
      engine_(parse<Engine>(text_of(described.engine))),
      reference_(described.reference),
      amounts_(described.amounts),
      user_(described.user) {
  for (const std::string& dimension : dimensions_) checked_name("dimension", dimension.c_str());
  require_unique("dimension", dimensions_);
  if (dimensions_.empty()) throw UsageError(fmt::format("operation {} has no dimension", name_));
  if (std::ranges::find(dimensions_, "layout") != dimensions_.end()) {
    throw UsageError("a dimension cannot be called layout, which is part of a shape's text");
  }
  const int count = described.operand_count;
  if (count < 2 || count > static_cast<int>(kMaxOperands)) {
    throw UsageError(fmt::format("operation {} has {} operands; allowed: 2 to {}, the output last",
                                 name_, count, kMaxOperands));
  }
  for (int i = 0; i < count; ++i) {
    add_operand(described.operands[i], i + 1 < count ? Access::read : Access::written);
  }
  std::vector<std::string> names;
  names.reserve(operands_.size());
  for (const OwnOperand& operand : operands_) names.push_back(operand.name);
  require_unique("operand", names);
  const bool follows = std::ranges::any_of(operands_, [](const auto& o) { return !o.format; });
  if (!follows && formats_.size() > 1) {
    throw UsageError(
        fmt::format("operation {} has {} formats, but its operands all have formats of their own",
                    name_, formats_.size()));
  }
  if (reference_ == nullptr) throw UsageError(fmt::format("operation {} has no reference", name_));
  if (amounts_ == nullptr) throw UsageError(fmt::format("operation {} has no amounts", name_));
}

void OwnOperation::add_operand(const ridgebench_operand& described, Access access) {
  OwnOperand operand{.name = checked_name("operand", described.name),
                     .format = std::nullopt,
                     .dimensions = parts_of(text_of(described.dimensions)),
                     .access = access};
  if ((described.written != 0) != (access == Access::written)) {
    throw UsageError(
        fmt::format("operand {} of {}: only the last operand is written", operand.name, name_));
  }
  if (described.format != nullptr) operand.format = parse_format(described.format);
  for (const std::string& dimension : operand.dimensions) {
    if (std::ranges::find(dimensions_, dimension) == dimensions_.end()) {
      throw UsageError(fmt::format("operand {} of {} has the unknown dimension '{}'; allowed: {}",
                                   operand.name, name_, dimension, fmt::join(dimensions_, ", ")));
    }
  }
  operands_.push_back(std::move(operand));
}

Shape OwnOperation::read_shape(std::string_view shape_text) const {
  Shape shape = parse_shape(shape_text, dimensions_, false);
  for (const OwnOperand& operand : operands_) {
    double elements = 1;
    for (const std::string& dimension : operand.dimensions) {
      elements *= static_cast<double>(shape[dimension]);
    }
    if (elements > kMostElements) {
      throw UsageError(fmt::format("{} has {:.3g} elements of {} at {}; allowed: at most 2^50",
                                   name_, elements, operand.name, shape.text()));
    }
  }
  return shape;
}

void OwnOperation::add_shape(std::string_view shape_text) {
  const Shape shape = read_shape(shape_text);
  if (std::ranges::find(shapes_, shape, &Sized::shape) != shapes_.end()) {
    throw UsageError(fmt::format("the shape {} of {} comes twice", shape.text(), name_));
  }
  shapes_.push_back(sized(shape));
}

OwnOperation::Sized OwnOperation::sized(const Shape& shape) const {
  const auto known = std::ranges::find(shapes_, shape, &Sized::shape);
  if (known != shapes_.end()) return *known;
  double flops = 0;
  double terms = 0;
  Message message{};
  if (amounts_(user_, shape.sizes().data(), &flops, &terms, message.data()) != 0) {
    throw UsageError(line_of(message));
  }
  if (!(flops >= 0 && flops <= kMostFlops)) {
    throw UsageError(fmt::format("{} FLOPs of {} at {}; allowed: 0 to {:g}", flops, name_,
                                 shape.text(), kMostFlops));
  }
  if (!(terms >= 1 && terms <= kMostElements)) {
    throw UsageError(fmt::format("{} terms of a sum of {} at {}; allowed: 1 to 2^50", terms, name_,
                                 shape.text()));
  }
  return {shape, flops, terms};
}

std::vector<Operand> OwnOperation::operands(const Shape& shape, FormatPair format) const {
  std::vector<Operand> operands;
  for (const OwnOperand& own : operands_) {
    std::int64_t elements = 1;
    for (const std::string& dimension : own.dimensions) elements *= shape[dimension];
    operands.push_back({own.name, elements, own.format.value_or(format.a), own.access});
  }
  return operands;
}

void OwnOperation::reference(const Shape& shape, std::span<const View> in,
                             std::span<Expected> out) const {
  const auto inputs = as_double(in, operands(shape, formats_.front()));
  std::vector<const double*> pointers;
  pointers.reserve(inputs.size());
  for (const auto& input : inputs) pointers.push_back(input.data());
  std::vector<double> values(out.size());
  std::vector<double> norms(out.size());
  Message message{};
  const std::vector<std::int64_t> sizes = shape.sizes();
  const int code =
      reference_(user_, sizes.data(), pointers.data(), values.data(), norms.data(), message.data());
  if (code < 0) throw std::runtime_error("the reference failed: " + line_of(message));
  if (code == 0) fill_norms(values, sized(shape).terms, norms);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (std::isnan(values[i]) || !(norms[i] >= 0)) {
      throw std::runtime_error(fmt::format("the reference gives {} with norm {} for element {}",
                                           values[i], norms[i], i));
    }
    out[i] = {values[i], norms[i]};
  }
}

Operation OwnOperation::operation() const {
  Operation op;
  op.name = name_;
  op.dimensions = dimensions_;
  op.formats = formats_;
  op.engine = engine_;
  op.flops = [this](const Shape& shape) { return sized(shape).flops; };
  op.operands = [this](const Shape& shape, FormatPair format) { return operands(shape, format); };
  // The caller computes the whole output at once: it is one row.
  op.row_length = [this](const Shape& shape) {
    return operands(shape, formats_.front()).back().elements;
  };
  op.reference = [this](const Shape& shape, std::int64_t /*row*/, std::span<const View> in,
                        std::span<Expected> out) { reference(shape, in, out); };
  op.reduction = [this](const Shape& shape) { return sized(shape).terms; };
  // OwnRun::measure() requires shapes. The operations that a process serves may have none.
  op.shapes = [this](Profile, Pace, const Machine&) {
    if (shapes_.empty()) {
      throw UsageError(fmt::format(
          "operation {} has no shapes of its own; allowed: --shape SHAPE, or --shapes FILE",
          name_));
    }
    std::vector<Shape> shapes;
    shapes.reserve(shapes_.size());
    for (const Sized& one : shapes_) shapes.push_back(one.shape);
    return shapes;
  };
  return op;
}

}  // namespace ridgebench
