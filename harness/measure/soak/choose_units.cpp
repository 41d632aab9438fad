#include "harness/measure/soak/choose_units.hpp"

#include <algorithm>
#include <exception>

#include "harness/measure/fingerprint.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

// The operation of products that is in every build.
constexpr std::string_view kProduct = "matmul";

bool repeats_its_bits(const Case& c) {
  const Technique& t = c.technique;
  return t.origin == Origin::hand && t.pace == Pace::fast && !t.order_dependent && !t.burst &&
         !c.implementation->of_user() && !c.problem().in_place();
}

bool heats(const Case& c) {
  if (!c.is_ceiling()) return c.operation->name == kProduct;
  const Resource resource = c.operation->ceiling->resource;
  return resource == Resource::tensor || resource == Resource::fma || resource == Resource::link;
}

// True if an earlier case keeps the same resource busy in the same format.
bool adds_nothing(const Case& c, const std::vector<Case>& before) {
  if (!c.is_ceiling() || !c.operation->ceiling->sweep || has_a_row_per_unit(c.shape)) return false;
  return std::ranges::any_of(before, [&](const Case& other) {
    return other.is_ceiling() && other.format == c.format &&
           other.operation->ceiling->resource == c.operation->ceiling->resource;
  });
}

struct TimedUnit {
  std::unique_ptr<SoakUnit> unit;
  double seconds;
};

bool same_kernel(const Case& a, const Case& b) {
  return a.operation == b.operation && a.technique.name == b.technique.name && a.format == b.format;
}

}  // namespace

std::vector<Case> soak_cases(const Registry& registry, Device& device, const CaseNames& names) {
  const Selection selection(names, registry);
  std::vector<Case> all =
      enumerate_cases(registry, device, Profile::standard, {Regime::steady}, selection);
  // Sweeps come after the ceilings that they may repeat.
  std::ranges::stable_partition(
      all, [](const Case& c) { return c.is_ceiling() && !c.operation->ceiling->sweep; });
  std::vector<Case> chosen;
  for (const Case& c : all) {
    if (unsupported_reason(c) || !repeats_its_bits(c)) continue;
    const bool named =
        !names.operations.empty() || !names.techniques.empty() || !names.shapes.empty();
    const bool asked = named ? !c.is_ceiling() : heats(c);
    if (!asked || !selection.has_format(c.format) || adds_nothing(c, chosen)) continue;
    // The first size is the most informative one; sizes that the user named are all measured.
    const bool first =
        std::ranges::none_of(chosen, [&](const Case& other) { return same_kernel(c, other); });
    if (first || (!names.shapes.empty() && !c.is_ceiling())) chosen.push_back(c);
  }
  // Kernels of the engine that the operation is made for, if there are any.
  std::erase_if(chosen, [&, before = chosen](const Case& c) {
    return !c.is_ceiling() && c.technique.engine != c.operation->engine &&
           std::ranges::any_of(before, [&](const Case& other) {
             return other.operation == c.operation && other.format == c.format &&
                    other.technique.engine == c.operation->engine;
           });
  });
  return chosen;
}

std::vector<std::unique_ptr<SoakUnit>> bind_units(const std::vector<Case>& cases, Fill fill,
                                                  std::uint64_t seed, OutputCheck& check,
                                                  const std::function<void(LeftOut)>& left_out) {
  std::vector<TimedUnit> kept;
  for (const Case& c : cases) {
    try {
      TimedUnit timed{.unit = std::make_unique<SoakUnit>(c, fill, seed, check), .seconds = 0};
      static_cast<void>(timed.unit->launch());  // loads the kernel
      timed.seconds = timed.unit->launch();
      const auto rival = std::ranges::find_if(kept, [&](const TimedUnit& other) {
        const Case& o = other.unit->row();
        return !c.is_ceiling() && o.operation == c.operation && o.format == c.format &&
               o.shape == c.shape;
      });
      if (rival == kept.end()) {
        kept.push_back(std::move(timed));
      } else if (timed.seconds < rival->seconds) {
        *rival = std::move(timed);
      }
    } catch (const DeviceError&) {
      throw;
    } catch (const std::exception& error) {
      left_out({.id = c.id(), .reason = error.what(), .wrong = false});
    }
  }
  std::vector<std::unique_ptr<SoakUnit>> units;
  for (TimedUnit& timed : kept) units.push_back(std::move(timed.unit));
  return units;
}

}  // namespace ridgebench
