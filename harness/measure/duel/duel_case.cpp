#include "harness/measure/duel/duel_case.hpp"

#include <fmt/format.h>

namespace ridgebench {
namespace {

DuelSide side_of(const Case& c) {
  const Record record = c.describe();
  return {.technique = record.technique,
          .origin = record.origin,
          .accumulator = record.accumulator,
          .accumulator_bits = record.accumulator_bits.value_or(0),
          .held_back_by = record.held_back_by};
}

}  // namespace

std::string DuelCase::id() const {
  return fmt::format("{}/{}:{}/{}/{}/{}@{}", first.operation->name, first.technique.name,
                     second.technique.name, first.format.name(), first.shape.text(),
                     name(first.regime), first.device->name());
}

DuelRecord DuelCase::describe() const {
  DuelRecord record{.id = id(),
                    .op = std::string(first.operation->name),
                    .device = first.device->name(),
                    .backend = first.device->backend(),
                    .format = first.format,
                    .shape = first.shape,
                    .regime = first.regime,
                    .flops = first.work().flops,
                    .bytes = first.work().bytes,
                    .first = side_of(first),
                    .second = side_of(second),
                    .power_settles = first.device->tensor_warm_up_s() > 0 && !cold()};
  if (record.first.held_back_by || record.second.held_back_by) {
    record.flags.emplace_back("library_held_back");
  }
  return record;
}

std::optional<std::string> DuelCase::unsupported() const {
  for (const Case* c : {&first, &second}) {
    if (const auto reason = unsupported_reason(*c)) {
      return fmt::format("{}: {}", c->technique.name, *reason);
    }
  }
  return std::nullopt;
}

}  // namespace ridgebench
