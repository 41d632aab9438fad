#include "harness/measure/selection/lecture.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ridgebench {
namespace {

bool library(const Case& c) { return c.technique.origin == Origin::library; }

bool serves(const Case& c) {
  return c.technique.pace == Pace::fast && !unsupported_reason(c).has_value();
}

bool better_for_a_walk(const Case& a, const Case& b) {
  const bool one_walks = a.device->tensor_warm_up_s() > 0;
  if (!one_walks && library(a) != library(b)) return false;
  const auto rank = [](const Case& c) {
    return std::tuple(c.technique.engine == c.operation->engine, library(c),
                      tuned(c) != library(c));
  };
  return rank(a) > rank(b);
}

bool at_first_size(const Case& c) {
  const auto shapes = c.operation->shapes(Profile::lecture, c.technique.pace, c.device->machine());
  return !shapes.empty() && shapes.front() == c.shape;
}

bool in_format(const Case& c, Format wanted) {
  const std::vector<FormatPair>& formats = c.operation->formats;
  const bool has = std::ranges::find(formats, FormatPair(wanted)) != formats.end();
  return c.format == (has ? FormatPair(wanted) : formats.front());
}

}  // namespace

Format lecture_format(const Registry& registry, const Device& device) {
  const Machine& machine = device.machine();
  const auto multiplies = [&](const auto& i) {
    if (i->backend != device.backend() || i->operation->ceiling) return false;
    if (i->technique.engine != Engine::tensor || i->format != FormatPair(Format::bf16)) {
      return false;
    }
    const auto shapes = i->operation->shapes(Profile::lecture, i->technique.pace, machine);
    return !shapes.empty() && !i->unsupported(machine, shapes.front());
  };
  return std::ranges::any_of(registry.implementations(), multiplies) ? Format::bf16 : Format::fp32;
}

bool walks_all_sizes(const Case& c, const std::vector<Case>& cases) {
  return serves(c) && std::ranges::none_of(cases, [&](const Case& other) {
           return other.operation == c.operation && other.format == c.format &&
                  other.device == c.device && other.shape == c.shape && serves(other) &&
                  better_for_a_walk(other, c);
         });
}

void keep_for_lecture(std::vector<Case>& cases, const Registry& registry,
                      const Selection& selection) {
  if (cases.empty()) return;
  const Format format = lecture_format(registry, *cases.front().device);
  std::erase_if(cases, [&](const Case& c) {
    return !c.is_ceiling() && !selection.names_formats() && !in_format(c, format);
  });
  if (selection.names_shapes()) return;
  const std::vector<Case> all = cases;
  std::erase_if(cases, [&](const Case& c) {
    return !c.is_ceiling() && !at_first_size(c) && !walks_all_sizes(c, all);
  });
}

}  // namespace ridgebench
