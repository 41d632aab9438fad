#include "kernels/common/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// The formats of the operands do not depend on the sizes, so any shape serves.
Shape unit_shape(const Operation& operation) {
  std::vector<Shape::Dimension> dimensions;
  dimensions.reserve(operation.dimensions.size());
  for (const std::string_view name : operation.dimensions) dimensions.emplace_back(name, 1);
  return Shape(std::move(dimensions),
               operation.has_layout ? std::optional(Layout::nt) : std::nullopt);
}

bool matches(const Signature& signature, const std::vector<Operand>& operands) {
  return std::ranges::equal(operands, std::span(signature.parameters).first(signature.count),
                            [](const Operand& operand, const Parameter& parameter) {
                              return operand.format == parameter.format &&
                                     operand.access == parameter.access;
                            });
}

auto identity(const Implementation& i) {
  return std::tuple(i.operation->name, i.technique.name, i.backend, i.format.a, i.format.b);
}

// Sort key. Registration order is link order, and nothing may depend on it. Among the instruction
// sets of one technique, those that the processor has (up to `newest`) come first, the newest of
// them first.
auto sort_key(const Implementation& i, Isa newest) {
  return std::tuple(identity(i), i.technique.isa > newest, -static_cast<int>(i.technique.isa));
}

void resolve_one(Implementation& implementation, const Operation& operation) {
  const Shape shape = unit_shape(operation);
  const auto format = std::ranges::find_if(operation.formats, [&](FormatPair f) {
    return matches(implementation.signature, operation.operands(shape, f));
  });
  if (format == operation.formats.end()) {
    throw std::logic_error(
        fmt::format("technique {}/{} binds pointer types that are no format of the operation",
                    operation.name, implementation.technique.name));
  }
  implementation.operation = &operation;
  implementation.format = *format;
}

// The registered operation that the technique implements.
const Operation& operation_of(const Technique& technique,
                              const std::vector<std::unique_ptr<Operation>>& operations) {
  const auto found = std::ranges::find(operations, technique.operation,
                                       [](const auto& operation) { return operation->name; });
  if (found == operations.end()) {
    throw std::logic_error(fmt::format("technique {}/{} implements an operation that is not there",
                                       technique.operation, technique.name));
  }
  return **found;
}

bool same(const std::unique_ptr<Implementation>& a, const std::unique_ptr<Implementation>& b) {
  return identity(*a) == identity(*b);
}

bool twins(const std::unique_ptr<Implementation>& a, const std::unique_ptr<Implementation>& b) {
  return same(a, b) && a->technique.isa == b->technique.isa;
}

}  // namespace

std::optional<std::string> Implementation::unsupported(const Machine& machine,
                                                       const Shape& shape) const {
  if (lacks_isa) return fmt::format("this processor is no {}", name(technique.isa));
  if (technique.supports == nullptr) return std::nullopt;
  return technique.supports(machine, shape, format);
}

Registry& Registry::instance() {
  static Registry registry;
  return registry;
}

void Registry::add(Operation operation) {
  operations_.push_back(std::make_unique<Operation>(std::move(operation)));
}

void Registry::add(Implementation implementation) {
  implementations_.push_back(std::make_unique<Implementation>(std::move(implementation)));
}

void Registry::resolve(Isa newest) {
  const auto operation_name = [](const auto& operation) { return operation->name; };
  std::ranges::sort(operations_, {}, operation_name);
  if (const auto twice = std::ranges::adjacent_find(operations_, {}, operation_name);
      twice != operations_.end()) {
    throw std::logic_error(fmt::format("operation {} is registered twice", (*twice)->name));
  }
  for (const auto& i : implementations_) resolve_one(*i, operation_of(i->technique, operations_));
  std::ranges::sort(implementations_, {}, [&](const auto& i) { return sort_key(*i, newest); });
  if (const auto twice = std::ranges::adjacent_find(implementations_, twins);
      twice != implementations_.end()) {
    const Implementation& i = **twice;
    throw std::logic_error(fmt::format("technique {}/{} is registered twice for {}",
                                       i.operation->name, i.technique.name, i.format.name()));
  }
  const auto others = std::ranges::unique(implementations_, same);
  implementations_.erase(others.begin(), others.end());
  for (const auto& i : implementations_) i->lacks_isa = i->technique.isa > newest;
}

void Registry::remove(std::span<const std::string> operations) {
  const auto named = [&](std::string_view name) {
    return std::ranges::find(operations, name) != operations.end();
  };
  std::erase_if(implementations_, [&](const auto& i) { return named(i->technique.operation); });
  std::erase_if(operations_, [&](const auto& operation) { return named(operation->name); });
}

const std::vector<std::unique_ptr<Operation>>& Registry::operations() const { return operations_; }

const std::vector<std::unique_ptr<Implementation>>& Registry::implementations() const {
  return implementations_;
}

const Operation& Registry::operation(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& operation : operations_) {
    if (operation->name == name) return *operation;
    if (!operation->ceiling) names.push_back(operation->name);
  }
  reject_name("operation", name, names);
}

RegisterOperation::RegisterOperation(Operation operation) {
  Registry::instance().add(std::move(operation));
}

void registry_detail::add(const Technique& technique, Backend backend,
                          Implementation implementation) {
  implementation.technique = technique;
  implementation.backend = backend;
  Registry::instance().add(std::move(implementation));
}

}  // namespace ridgebench
