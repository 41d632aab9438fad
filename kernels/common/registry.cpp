#include "kernels/common/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kernels/common/amounts.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/interface/registry_capture.hpp"

namespace ridgebench {
namespace {

Registry* g_capture = nullptr;  // of the RegistryCapture that lives

// A fault of the program itself, or of a file that `--load` named.
[[noreturn]] void reject(const std::string& file, const std::string& problem) {
  if (file.empty()) throw std::logic_error(problem);
  throw UsageError(fmt::format("{}: {}", file, problem));
}

// Ids are made of names. `what` and `whose` say in the message what has the name.
void check_name(const std::string& file, std::string_view what, std::string_view whose,
                const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (!name.empty() && std::ranges::all_of(name, allowed)) return;
  reject(file,
         fmt::format("{}{} is named '{}'; allowed: letters, digits and _", what, whose, name));
}

bool is_input_format(Format format) {
  return format == Format::int8 || format == Format::ue8m0 || format == Format::fp4_e2m1;
}

void check_operands(const Operation& operation, FormatPair format) {
  const std::vector<Operand> operands = operation.operands(unit_shape(operation), format);
  const auto refuse = [&](const std::string& problem) {
    reject(operation.loaded_from, fmt::format("operation {}: {}", operation.name, problem));
  };
  if (std::ranges::none_of(operands, &Operand::is_output)) refuse("no operand is written");
  for (const Operand& o : operands) {
    const bool of_the_run = o.is_input() && o.values.kind == Values::Kind::of_the_run;
    if (of_the_run && for_operands_only(o.format)) {
      refuse(fmt::format("operand {} is {}; allowed with it: .values = {}(...)", o.name,
                         info(o.format).name,
                         o.format == Format::int32 ? "integers_below" : "uniform"));
    }
    if (o.is_output() && is_input_format(o.format)) {
      refuse(
          fmt::format("operand {} is {}, which is for inputs only", o.name, info(o.format).name));
    }
  }
}

void check_attributes(const Operation& operation) {
  for (const auto& [label, value] : operation.attributes) {
    check_name(operation.loaded_from, "an attribute of ", operation.name, label);
    // clang 16 with OpenMP captures no structured binding by its name.
    const auto same = [&name = label](const std::string& dimension) { return dimension == name; };
    const auto count = std::ranges::count(operation.attributes, label, &Shape::Attribute::first);
    if (label == "layout" || count > 1 || std::ranges::any_of(operation.dimensions, same)) {
      reject(operation.loaded_from,
             fmt::format("attribute {} of {} has the name of a dimension or of another attribute",
                         label, operation.name));
    }
    if (!std::isfinite(value)) {
      reject(operation.loaded_from,
             fmt::format("attribute {} of {} is {}; allowed: a finite number", label,
                         operation.name, value));
    }
  }
}

// A sweep states sizes; its shapes get the defaults of the attributes.
void add_attributes(Operation& operation) {
  if (operation.attributes.empty() || !operation.shapes) return;
  operation.shapes = [sizes = std::move(operation.shapes), attributes = operation.attributes](
                         Profile profile, Pace pace, const Machine& machine) {
    std::vector<Shape> shapes = sizes(profile, pace, machine);
    for (Shape& shape : shapes) {
      if (shape.attributes().empty()) shape = shape.with(attributes);
    }
    return shapes;
  };
}

// Checks that the compiler cannot make in code that somebody else wrote.
void check_operation(const Operation& operation) {
  const std::string& file = operation.loaded_from;
  check_name(file, "an operation", "", operation.name);
  const auto lacks = [&](const char* member) {
    reject(file, fmt::format("operation {} has no {}", operation.name, member));
  };
  if (operation.dimensions.empty()) lacks("dimensions");
  if (operation.formats.empty()) lacks("formats");
  if (!operation.flops) lacks("flops");
  if (!operation.operands) lacks("operands");
  if (!operation.row_length) lacks("row_length");
  if (!operation.reference) lacks("reference");
  if (!operation.reduction) lacks("reduction");
  if (!operation.shapes) lacks("shapes");
  for (const std::string& dimension : operation.dimensions) {
    check_name(file, "a dimension of ", operation.name, dimension);
  }
  if (!operation.optional_dimensions.empty()) {
    reject(file, fmt::format("operation {} has optional dimensions, which only operations of the "
                             "program have",
                             operation.name));
  }
  check_attributes(operation);
  for (const FormatPair format : operation.formats) {
    for (const Format one : {format.a, format.b}) {
      if (!for_operands_only(one)) continue;
      reject(file, fmt::format("operation {} has format {}, which is for operands only",
                               operation.name, info(one).name));
    }
    check_operands(operation, format);
  }
}

bool matches(const Signature& signature, const std::vector<Operand>& operands) {
  return std::ranges::equal(operands, std::span(signature.parameters).first(signature.count),
                            [](const Operand& operand, const Parameter& parameter) {
                              return operand.format == parameter.format &&
                                     operand.is_output() != parameter.is_const;
                            });
}

auto identity(const Implementation& i) {
  return std::tuple(i.operation->name, i.technique.name, i.backend, i.format.a, i.format.b);
}

// Sort key. Registration order is link order, and nothing may depend on it. Among the instruction
// sets of one technique, those that the processor has (up to `newest`) come first, the newest of
// them first.
auto sort_key(const Implementation& i, Isa newest) {
  return std::tuple(identity(i), i.technique.isa > newest, -static_cast<int>(i.technique.isa),
                    i.technique.loaded_from);
}

void resolve_one(Implementation& implementation, const Operation& operation) {
  // The formats of the operands do not depend on the sizes, so any shape serves.
  const Shape shape = unit_shape(operation);
  const auto format = std::ranges::find_if(operation.formats, [&](FormatPair f) {
    return matches(implementation.signature, operation.operands(shape, f));
  });
  if (format == operation.formats.end()) {
    reject(implementation.technique.loaded_from,
           fmt::format("technique {}/{} binds pointer types that are no format of the operation",
                       operation.name, implementation.technique.name));
  }
  implementation.operation = &operation;
  implementation.format = *format;
}

// The registered operation that the technique implements.
const Operation& operation_of(const Technique& technique,
                              const std::vector<std::unique_ptr<Operation>>& operations) {
  check_name(technique.loaded_from, "a technique of ", technique.operation, technique.name);
  const auto found = std::ranges::find(operations, technique.operation,
                                       [](const auto& operation) { return operation->name; });
  if (found == operations.end()) {
    reject(technique.loaded_from,
           fmt::format("technique {}/{} implements an operation that is not there",
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
  if (lacks_isa) return fmt::format("this processor is not {}", name(technique.isa));
  if (operation != nullptr && !technique.optional_dimensions) {
    for (const auto& [dimension, usual] : operation->optional_dimensions) {
      if (shape.size_or(dimension, 0) > 0) {
        return fmt::format("{} does not serve dimension {}", technique.name, dimension);
      }
    }
  }
  if (technique.supports == nullptr) return std::nullopt;
  return technique.supports(machine, shape, format);
}

Registry& Registry::instance() {
  static Registry registry;
  return registry;
}

Registry& current_registry() { return g_capture != nullptr ? *g_capture : Registry::instance(); }

RegistryCapture::RegistryCapture(Registry& into) { g_capture = &into; }

RegistryCapture::~RegistryCapture() { g_capture = nullptr; }

void Registry::add(Operation operation) {
  operation.loaded_from = loading_;
  add_attributes(operation);
  if (!loading_.empty()) check_amounts(operation);
  operations_.push_back(std::make_unique<Operation>(std::move(operation)));
}

void Registry::add(Implementation implementation) {
  implementation.technique.loaded_from = loading_;
  implementations_.push_back(std::make_unique<Implementation>(std::move(implementation)));
}

void Registry::sort_operations() {
  // If two have one name, the loaded one comes second and is to blame.
  const auto key = [](const auto& o) { return std::tie(o->name, o->loaded_from); };
  std::ranges::sort(operations_, {}, key);
  const auto name = [](const auto& operation) -> const std::string& { return operation->name; };
  if (const auto twice = std::ranges::adjacent_find(operations_, {}, name);
      twice != operations_.end()) {
    reject((*std::next(twice))->loaded_from,
           fmt::format("operation {} is registered twice", (*twice)->name));
  }
  for (const auto& operation : operations_) {
    if (!operation->loaded_from.empty()) check_operation(*operation);
  }
}

void Registry::resolve(Isa newest) {
  sort_operations();
  for (const auto& i : implementations_) resolve_one(*i, operation_of(i->technique, operations_));
  std::ranges::sort(implementations_, {}, [&](const auto& i) { return sort_key(*i, newest); });
  if (const auto twice = std::ranges::adjacent_find(implementations_, twins);
      twice != implementations_.end()) {
    const Implementation& i = **std::next(twice);
    reject(i.technique.loaded_from,
           fmt::format("technique {}/{} is registered twice for {}", i.operation->name,
                       i.technique.name, i.format.name()));
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
  current_registry().add(std::move(operation));
}

void registry_detail::add(const Technique& technique, Backend backend,
                          Implementation implementation, const char* source) {
  implementation.technique = technique;
  implementation.backend = backend;
  implementation.source = source;
  current_registry().add(std::move(implementation));
}

}  // namespace ridgebench
