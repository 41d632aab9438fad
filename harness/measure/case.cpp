#include "harness/measure/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/device/isolated/remote_launch.hpp"
#include "harness/measure/selection/lecture.hpp"
#include "harness/results/doubts.hpp"
#include "harness/results/held_back.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

std::vector<Regime> regimes_of(const Case& c, Profile profile, const std::vector<Regime>& chosen) {
  if (c.is_ceiling()) return {Regime::steady};
  if (!chosen.empty()) return chosen;
  if (profile == Profile::full) return {Regime::steady, Regime::cold, Regime::warm};
  const auto cache = static_cast<double>(c.device->machine().last_level_cache_bytes());
  if (profile == Profile::standard && c.work().bytes < cache) {
    return {Regime::steady, Regime::cold};
  }
  return {Regime::steady};
}

// The implementations of an operation on a backend by technique. A technique has one per format.
using Techniques = std::map<std::string_view, std::vector<const Implementation*>>;

Techniques techniques_of(const Registry& registry, const Operation& operation, Backend backend) {
  Techniques found;
  for (const auto& i : registry.implementations()) {
    if (i->operation == &operation && i->backend == backend) {
      found[i->technique.name].push_back(i.get());
    }
  }
  return found;
}

void add_cases(std::vector<Case>& cases, Case c, const std::vector<Shape>& shapes, Profile profile,
               const std::vector<Regime>& chosen) {
  for (auto shape = shapes.begin(); shape != shapes.end(); ++shape) {
    // Sizes of a sweep, or two that a user named, may come down to one.
    if (std::find(shapes.begin(), shape, *shape) != shape) continue;
    c.shape = *shape;
    for (const Regime regime : regimes_of(c, profile, chosen)) {
      c.regime = regime;
      cases.push_back(c);
    }
    if (c.implementation == nullptr) return;  // one skipped case per format is enough
  }
}

// A row of a naive technique then takes seconds, not minutes: kLongerThanSweep times the largest
// case of its sweep.
double most_naive_flops(const Operation& operation, const Machine& machine) {
  constexpr double kLongerThanSweep = 16;
  double most = 0;
  for (const Shape& shape : operation.shapes(Profile::full, Pace::naive, machine)) {
    most = std::max(most, operation.flops(shape));
  }
  return kLongerThanSweep * most;
}

double distance(const Case& c, const Case& ceiling) {
  return std::abs(c.written_share() - ceiling.written_share());
}

}  // namespace

std::string Case::id() const {
  const std::string of_device = device->name();
  const std::string id = id_of_row({.operation = operation->name,
                                    .technique = technique.name,
                                    .format = format,
                                    .shape = shape,
                                    .regime = regime,
                                    .device = of_device});
  return control ? control_of(id) : id;
}

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
  d.burst = technique.burst;
  d.engine = technique.engine;
  d.format = format;
  d.arithmetic = technique.arithmetic ? FormatPair(*technique.arithmetic) : format;
  d.accumulator = technique.accumulator;
  const int bits = technique.accumulator_bits;
  d.accumulator_bits = bits > 0 ? bits : info(technique.accumulator).mantissa_bits;
  if (technique.isa != Isa::none) d.isa = technique.isa;
  if (!technique.loaded_from.empty()) d.loaded_from = technique.loaded_from;
  if (implementation != nullptr) d.isolated = isolation_of(*implementation);
  d.shape = shape;
  d.regime = regime;
  if (technique.origin == Origin::library) d.held_back_by = held_back_by(technique.name);
  if (d.held_back_by) d.flags.emplace_back("library_held_back");
  d.flops = work().flops;
  d.bytes = work().bytes;
  d.written_fraction = written_share();
  return d;
}

namespace {

// The same ceiling of the memory for so short a time that power and clock do not settle; empty
// for another ceiling, and on a device whose power settles at once.
std::optional<Case> burst_twin(const Case& c) {
  const bool memory = c.is_ceiling() && c.operation->ceiling->resource == Resource::memory;
  const bool twin = memory && !c.operation->ceiling->sweep && !c.technique.burst &&
                    c.implementation != nullptr && c.device->tensor_warm_up_s() > 0;
  if (!twin) return std::nullopt;
  Case burst = c;
  burst.technique.name += "_burst";
  burst.technique.burst = true;
  return burst;
}

}  // namespace

std::vector<Case> enumerate_cases(const Registry& registry, Device& device, Profile profile,
                                  const std::vector<Regime>& regimes, const Selection& selection) {
  std::vector<Case> cases;
  for (const auto& operation : registry.operations()) {
    const bool kernel = !operation->ceiling;
    if (kernel && !selection.has(*operation)) continue;
    for (const auto& [name, all] : techniques_of(registry, *operation, device.backend())) {
      if (kernel && !selection.has_technique(name)) continue;
      const Technique& technique = all.back()->technique;
      // An operation of a Python file has none.
      const auto sweep = [&] {
        return operation->shapes(profile, technique.pace, device.machine());
      };
      for (const FormatPair format : operation->formats) {
        if (kernel && !selection.has_format(format)) continue;
        const auto named = kernel ? selection.shapes(*operation, format) : std::nullopt;
        const auto found = std::ranges::find(all, format, &Implementation::format);
        const Case c{.operation = operation.get(),
                     .technique = found == all.end() ? technique : (*found)->technique,
                     .implementation = found == all.end() ? nullptr : *found,
                     .device = &device,
                     .format = format};
        add_cases(cases, c, named ? *named : sweep(), profile, regimes);
        if (const auto burst = burst_twin(c)) add_cases(cases, *burst, sweep(), profile, regimes);
      }
    }
  }
  if (profile == Profile::lecture) keep_for_lecture(cases, registry, selection);
  std::ranges::stable_partition(cases, &Case::is_ceiling);
  return cases;
}

bool tuned(const Case& c) { return c.technique.name.find("_tuned") != std::string_view::npos; }

bool left_out_of_quick(const Case& c, std::span<const Case> cases) {
  if (c.device->tensor_warm_up_s() == 0) return false;
  if (c.is_ceiling()) {
    const auto full_rate = c.technique.full_rate;
    return full_rate != nullptr && !full_rate(c.device->machine());
  }
  if (c.operation->engine != Engine::tensor || c.format == kLadderFormat) return false;
  if (c.format.mixed()) return true;
  return c.implementation != nullptr && !tuned(c) &&
         std::ranges::any_of(cases, [&](const Case& other) {
           return other.operation == c.operation && other.format == c.format &&
                  other.technique.origin == c.technique.origin && tuned(other) &&
                  !unsupported_reason(other);
         });
}

bool left_out_unless_named(const Case& c, const Selection& selection, const Filter& filter) {
  return c.operation->of_step && !selection.names(*c.operation) &&
         !filter.names_operation_of(c.id());
}

bool needs_ceiling(const Case& c, const Case& ceiling, std::span<const Case> ceilings) {
  if (c.implementation == nullptr || c.device != ceiling.device) return false;
  if (ceiling.operation->ceiling->sweep) return false;
  const FormatPair arithmetic = c.implementation->arithmetic();
  switch (ceiling.operation->ceiling->resource) {
    case Resource::memory:
      return std::ranges::none_of(ceilings, [&](const Case& other) {
        return other.operation->ceiling->resource == Resource::memory &&
               distance(c, other) < distance(c, ceiling);
      });
    case Resource::fma:
    case Resource::tensor: {
      if (c.technique.engine == Engine::memory) return false;
      const bool tensor = ceiling.operation->ceiling->resource == Resource::tensor;
      const auto multiplies = [&](Format format) {
        return products_of(format).factors == ceiling.format.a;
      };
      return tensor == (c.technique.engine == Engine::tensor) &&
             (multiplies(arithmetic.a) || multiplies(arithmetic.b) ||
              // Roofs::arithmetic_roof judges all operations but products by fp32.
              (c.operation->engine != Engine::tensor && multiplies(Format::fp32)));
    }
    case Resource::sfu:
      return static_cast<bool>(c.operation->special);
    case Resource::narrow:
    case Resource::widen:
      return arithmetic != c.format && c.format == ceiling.format;
    default:
      return false;
  }
}

std::optional<std::string> unsupported_reason(const Case& c) {
  if (c.implementation == nullptr) return "the technique does not serve this format";
  const Machine& machine = c.device->machine();
  if (const auto reason = c.implementation->unsupported(machine, c.shape)) return reason;
  if (c.technique.pace == Pace::fast || c.is_ceiling()) return std::nullopt;
  const double most = most_naive_flops(*c.operation, machine);
  if (c.work().flops <= most) return std::nullopt;
  return fmt::format("{} takes too long for {}; allowed: up to {}", c.technique.name,
                     with_unit(c.work().flops, "FLOP"), with_unit(most, "FLOP"));
}

}  // namespace ridgebench
