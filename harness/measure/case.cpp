#include "harness/measure/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

std::vector<Regime> regimes_of(const Case& row, Profile profile,
                               const std::vector<Regime>& chosen) {
  if (row.is_ceiling()) return {Regime::steady};
  if (!chosen.empty()) return chosen;
  if (profile == Profile::full) return {Regime::steady, Regime::cold, Regime::warm};
  const auto cache = static_cast<double>(row.device->machine().last_level_cache_bytes());
  if (profile == Profile::standard && row.work().bytes < cache) {
    return {Regime::steady, Regime::cold};
  }
  return {Regime::steady};
}

// What a technique says of itself, and its implementation per format.
struct Offer {
  Technique technique;
  std::vector<const Implementation*> implementations;
};

std::vector<Offer> offers(const Registry& registry, const Operation& operation, Backend backend) {
  std::map<std::string_view, Offer> by_name;
  for (const auto& i : registry.implementations()) {
    if (i->operation != &operation || i->backend != backend) continue;
    Offer& offer = by_name[i->technique.name];
    offer.technique = i->technique;
    offer.implementations.push_back(i.get());
  }
  std::vector<Offer> result;
  result.reserve(by_name.size());
  for (auto& [name, offer] : by_name) result.push_back(std::move(offer));
  return result;
}

void add_rows(std::vector<Case>& rows, Case row, const std::vector<Shape>& shapes, Profile profile,
              const std::vector<Regime>& chosen) {
  for (const Shape& shape : shapes) {
    row.shape = shape;
    for (const Regime regime : regimes_of(row, profile, chosen)) {
      row.regime = regime;
      rows.push_back(row);
    }
    if (row.implementation == nullptr) return;  // one line says it
  }
}

double distance(const Case& row, const Case& ceiling) {
  return std::abs(row.written_share() - ceiling.written_share());
}

// Some address that a bind may compute with and must not follow.
void* placeholder(std::size_t operand) {
  constexpr std::size_t far = std::size_t{1} << 40U;
  return reinterpret_cast<void*>(far * (operand + 1));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

std::string Case::id() const {
  return fmt::format("{}/{}/{}/{}/{}@{}{}", operation->name, technique.name, format.name(),
                     shape.text(), name(regime), device->name(), control ? ":control" : "");
}

std::vector<Operand> Case::operands() const { return operation->operands(shape, format); }

Work Case::work() const { return {operation->flops(shape), bytes(*operation, shape, format)}; }

double Case::written_share() const { return written_fraction(*operation, shape, format); }

Record Case::describe() const {
  Record d;
  d.id = id();
  d.op = operation->name;
  d.technique = technique.name;
  d.backend = device->backend();
  d.device = device->name();
  d.origin = technique.origin;
  d.role = control ? Role::control : is_ceiling() ? Role::ceiling : Role::kernel;
  if (is_ceiling()) {
    d.saturates = operation->ceiling->resource;
    if (operation->ceiling->cache_level > 0) d.level = operation->ceiling->cache_level;
  }
  d.engine = technique.engine;
  d.format = format;
  d.arithmetic = technique.arithmetic ? FormatPair(*technique.arithmetic) : format;
  d.accumulator = technique.accumulator;
  const int bits = technique.accumulator_bits;
  d.accumulator_bits = bits > 0 ? bits : info(technique.accumulator).mantissa_bits;
  if (technique.isa != Isa::none) d.isa = technique.isa;
  d.shape = shape;
  d.regime = regime;
  d.flops = work().flops;
  d.bytes = work().bytes;
  d.written_fraction = written_share();
  return d;
}

std::vector<Case> enumerate_cases(const Registry& registry, Device& device, Profile profile,
                                  const std::vector<Regime>& regimes) {
  std::vector<Case> rows;
  for (const auto& operation : registry.operations()) {
    for (const Offer& offer : offers(registry, *operation, device.backend())) {
      const std::vector<Shape> shapes =
          operation->shapes(profile, offer.technique.pace, device.machine());
      for (const FormatPair format : operation->formats) {
        const auto& all = offer.implementations;
        const auto found = std::ranges::find(all, format, &Implementation::format);
        add_rows(rows,
                 {.operation = operation.get(),
                  .technique = found == all.end() ? offer.technique : (*found)->technique,
                  .implementation = found == all.end() ? nullptr : *found,
                  .device = &device,
                  .format = format},
                 shapes, profile, regimes);
      }
    }
  }
  std::ranges::stable_partition(rows, &Case::is_ceiling);
  return rows;
}

bool needs_ceiling(const Case& row, const Case& ceiling, std::span<const Case> ceilings) {
  if (row.implementation == nullptr || row.device != ceiling.device) return false;
  const FormatPair arithmetic = row.implementation->arithmetic();
  switch (ceiling.operation->ceiling->resource) {
    case Resource::memory:
      return std::ranges::none_of(ceilings, [&](const Case& other) {
        return other.operation->ceiling->resource == Resource::memory &&
               distance(row, other) < distance(row, ceiling);
      });
    case Resource::fma:
    case Resource::tensor: {
      if (row.technique.engine == Engine::memory) return false;
      const bool tensor = ceiling.operation->ceiling->resource == Resource::tensor;
      const auto multiplies = [&](Format format) {
        return products_of(format).factors == ceiling.format.a;
      };
      return tensor == (row.technique.engine == Engine::tensor) &&
             (multiplies(arithmetic.a) || multiplies(arithmetic.b));
    }
    case Resource::sfu:
      return static_cast<bool>(row.operation->special);
    default:
      return false;
  }
}

std::string unsupported_reason(const Case& row) {
  if (row.implementation == nullptr) {
    return "the technique does not serve this format";
  }
  if (const auto reason = row.implementation->unsupported(row.device->machine(), row.shape)) {
    return *reason;
  }
  std::array<void*, kMaxOperands> operands{};
  for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = placeholder(i);
  try {
    Queue& queue = row.device->queue();
    const Implementation& technique = *row.implementation;
    const Plan plan = technique.prepare ? technique.prepare(queue, row.shape) : nullptr;
    static_cast<void>(technique.bind(queue, plan, row.shape,
                                     std::span(operands).first(technique.signature.count)));
  } catch (const Unsupported& reason) {
    return reason.what();
  } catch (const OutOfMemory& reason) {
    return reason.what();
  }
  return {};
}

}  // namespace ridgebench
