#include "harness/c/own_operation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "harness/c/texts.hpp"
#include "harness/device/cpu/free_memory.hpp"
#include "kernels/common/amounts.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/random.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

constexpr double kMostIntegers = 0x1p31;

void require_unique(const std::string& what, std::vector<std::string> names) {
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) throw UsageError(fmt::format("{} '{}' comes twice", what, *twice));
}

using Arrays = std::vector<std::vector<double>>;

std::vector<double*> pointers_to(Arrays& arrays) {
  std::vector<double*> pointers;
  pointers.reserve(arrays.size());
  for (auto& array : arrays) pointers.push_back(array.data());
  return pointers;
}

// Linux would end the process if the reference took more memory than there is.
void require_memory(const std::vector<Operand>& operands) {
  double numbers = 0;
  for (const Operand& operand : operands) {
    const auto elements = static_cast<double>(operand.elements);
    if (operand.is_input()) numbers += elements;
    // Values, norms, and both of them once more as Expected.
    if (operand.is_output()) numbers += 4 * elements;
  }
  const double asked = numbers * sizeof(double);
  if (const double free = allocatable_bytes(); asked > free) throw OutOfMemory(asked, free);
}

// The inputs in double.
Arrays as_double(std::span<const View> in, const std::vector<Operand>& operands) {
  Arrays inputs;
  for (const Operand& operand : operands) {
    if (!operand.is_input()) continue;
    auto& input = inputs.emplace_back(static_cast<std::size_t>(operand.elements));
    in[inputs.size() - 1].read(0, input);
  }
  return inputs;
}

// An array for each output.
Arrays of_outputs(const std::vector<Operand>& operands) {
  Arrays arrays;
  for (const Operand& operand : operands) {
    if (operand.is_output()) arrays.emplace_back(static_cast<std::size_t>(operand.elements));
  }
  return arrays;
}

std::vector<double> values_of(const std::vector<Shape::Attribute>& attributes) {
  std::vector<double> values;
  for (const auto& [label, value] : attributes) values.push_back(value);
  return values;
}

Access access_of(std::int32_t given, const std::string& operand) {
  if (given < 0 || given > static_cast<std::int32_t>(Access::updated)) {
    throw UsageError(fmt::format(
        "operand {} has access {}; allowed: 0 (read), 1 (written), 2 (updated)", operand, given));
  }
  return static_cast<Access>(given);
}

Values values_of(const ridgebench_extent& extent, const std::string& operand) {
  const bool finite = std::isfinite(extent.low) && std::isfinite(extent.high);
  switch (extent.values) {
    case 0:
      return {};
    case 1:
      if (!finite || extent.low >= extent.high) break;
      return uniform(extent.low, extent.high);
    case 2:
      if (!(extent.high >= 1 && extent.high <= kMostIntegers)) break;
      return integers_below(static_cast<std::int64_t>(extent.high));
    default:
      break;
  }
  throw UsageError(fmt::format(
      "the values of {} are from {} to {}; allowed: a range of finite numbers, or whole "
      "numbers below 1 to 2^31",
      operand, extent.low, extent.high));
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
      extents_(described.extents),
      reference_(described.reference),
      amounts_(described.amounts),
      reads_more_(described.reads_more != 0),
      user_(described.user) {
  for (const std::string& dimension : dimensions_) checked_name("dimension", dimension.c_str());
  if (dimensions_.empty()) throw UsageError(fmt::format("operation {} has no dimension", name_));
  for (int i = 0; i < described.attribute_count; ++i) add_attribute(described.attributes[i]);
  std::vector<std::string> names = dimensions_;
  for (const auto& [label, value] : attributes_) names.push_back(label);
  require_unique("dimension", names);
  if (std::ranges::find(names, "layout") != names.end()) {
    throw UsageError("a dimension cannot be called layout, which is part of a shape's text");
  }
  for (int i = 0; i < described.operand_count; ++i) add_operand(described.operands[i]);
  require_operands();
  if (extents_ == nullptr) throw UsageError(fmt::format("operation {} has no extents", name_));
  if (reference_ == nullptr) throw UsageError(fmt::format("operation {} has no reference", name_));
  if (amounts_ == nullptr) throw UsageError(fmt::format("operation {} has no amounts", name_));
}

void OwnOperation::add_attribute(const ridgebench_attribute& described) {
  std::string label = checked_name("attribute", described.name);
  if (!std::isfinite(described.value)) {
    throw UsageError(fmt::format("attribute {} of {} is {}; allowed: a finite number", label, name_,
                                 described.value));
  }
  attributes_.emplace_back(std::move(label), described.value);
}

void OwnOperation::add_operand(const ridgebench_operand& described) {
  OwnOperand operand{.name = checked_name("operand", described.name),
                     .format = std::nullopt,
                     .access = Access::read};
  operand.access = access_of(described.access, operand.name);
  if (described.format != nullptr) operand.format = parse_sum_format(described.format);
  operands_.push_back(std::move(operand));
}

void OwnOperation::require_operands() const {
  const auto is = [](Access access) { return [=](const auto& o) { return o.access == access; }; };
  const auto reads = std::ranges::count_if(operands_, is(Access::read));
  const auto updates = std::ranges::count_if(operands_, is(Access::updated));
  const auto count = std::ssize(operands_);
  if (count < 1 || count > std::ssize(Signature{}.parameters) || reads + updates == 0 ||
      reads == count) {
    throw UsageError(
        fmt::format("operation {} has {} operands, of which {} are read and {} written; allowed: "
                    "up to {}, one of each at least",
                    name_, count, reads + updates, count - reads, kMaxOperands));
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
}

std::optional<std::string> OwnOperation::refuses(const Shape& shape) const {
  for (const Operand& operand : operands(shape, formats_.front())) {
    if (operand.elements < 1) {
      return fmt::format(
          "{} has no whole number of elements of {} at {}; allowed: sizes that fit "
          "each other",
          name_, operand.name, shape.text());
    }
    if (static_cast<double>(operand.elements) > kElements.most) {
      return fmt::format("{} has too many elements of {} at {}; allowed: at most 2^50", name_,
                         operand.name, shape.text());
    }
  }
  return std::nullopt;
}

Shape OwnOperation::read_shape(std::string_view shape_text) const {
  Shape shape = parse_shape(shape_text, dimensions_, false, attributes_);
  if (const auto reason = refuses(shape)) throw UsageError(*reason);
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
  Sized found{.shape = shape, .flops = 0, .terms = 0, .more_bytes = 0};
  Message message{};
  if (amounts_(user_, shape.sizes().data(), values_of(shape.attributes()).data(), &found.flops,
               &found.terms, &found.more_bytes, message.data()) != 0) {
    throw UsageError(line_of(message));
  }
  (void)require_amount(kFlops, name_, shape, found.flops);
  (void)require_amount(kTerms, name_, shape, found.terms);
  (void)require_amount(kMoreBytes, name_, shape, found.more_bytes);
  return found;
}

std::vector<Operand> OwnOperation::operands(const Shape& shape, FormatPair format) const {
  std::vector<ridgebench_extent> extents(operands_.size());
  Message message{};
  if (extents_(user_, shape.sizes().data(), values_of(shape.attributes()).data(), extents.data(),
               message.data()) != 0) {
    throw UsageError(line_of(message));
  }
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const OwnOperand& own = operands_[i];
    operands.push_back({own.name, extents[i].elements, own.format.value_or(format.a), own.access,
                        values_of(extents[i], own.name)});
  }
  return operands;
}

double OwnOperation::traffic(const Shape& shape, FormatPair format) const {
  Operation without;
  without.operands = [this](const Shape& s, FormatPair f) { return operands(s, f); };
  return bytes(without, shape, format) + sized(shape).more_bytes;
}

void OwnOperation::reference(const Shape& shape, std::span<const View> in,
                             std::span<Expected> out) const {
  const std::vector<Operand> described = operands(shape, formats_.front());
  require_memory(described);
  Arrays inputs = as_double(in, described);
  Arrays values = of_outputs(described);
  Arrays norms = values;
  std::vector<std::int32_t> has_norms(values.size());
  Message message{};
  const std::vector<double*> read = pointers_to(inputs);
  const std::vector<const double*> pointers(read.begin(), read.end());
  if (reference_(user_, shape.sizes().data(), values_of(shape.attributes()).data(), pointers.data(),
                 pointers_to(values).data(), pointers_to(norms).data(), has_norms.data(),
                 message.data()) != 0) {
    throw std::runtime_error("the reference failed: " + line_of(message));
  }
  const double terms = sized(shape).terms;
  std::size_t next = 0;
  for (std::size_t o = 0; o < values.size(); ++o) {
    if (has_norms[o] == 0) fill_norms(values[o], terms, norms[o]);
    for (std::size_t i = 0; i < values[o].size(); ++i) out[next++] = {values[o][i], norms[o][i]};
  }
}

Operation OwnOperation::operation() const {
  Operation op;
  op.name = name_;
  op.dimensions = dimensions_;
  op.formats = formats_;
  op.engine = engine_;
  op.attributes = attributes_;
  op.flops = [this](const Shape& shape) { return sized(shape).flops; };
  op.operands = [this](const Shape& shape, FormatPair format) { return operands(shape, format); };
  op.refuses = [this](const Shape& shape) { return refuses(shape); };
  if (reads_more_) {
    op.traffic = [this](const Shape& shape, FormatPair format) { return traffic(shape, format); };
  }
  // The caller computes each whole output at once: it is one row.
  op.row_length = [this](const Shape& shape) {
    const auto all = operands(shape, formats_.front());
    return std::ranges::find_if(all, &Operand::is_output)->elements;
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
