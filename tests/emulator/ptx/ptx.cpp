#include "tests/emulator/ptx/ptx.hpp"

#include <algorithm>

namespace ridgebench::emulator {

bool Instruction::has(std::string_view part) const {
  return std::ranges::any_of(form_.parts, [&](std::string_view own) {
    return own.starts_with(part) && (own.size() == part.size() || own[part.size()] == ':');
  });
}

const Argument& Instruction::argument(std::size_t index) const {
  if (index >= count()) fault(std::string(name()) + " lacks an operand");
  return form_.arguments[index];
}

std::size_t Instruction::width(const Argument& argument) const {
  const auto number = static_cast<std::size_t>(argument.number);
  if (argument.kind == Argument::Kind::temporary) return sizeof temporaries_[number];
  if (argument.kind != Argument::Kind::operand) return 0;
  if (number >= operands_.size())
    fault(std::string(name()) + " names an operand that is not there");
  return operands_[number].bytes;
}

void* Instruction::in_memory(std::size_t argument, std::size_t bytes) const {
  const Argument& which = this->argument(argument);
  const auto number = static_cast<std::size_t>(which.number);
  const std::size_t own = width(which);
  if (which.kind == Argument::Kind::temporary && bytes <= own) return &temporaries_[number];
  if (own != bytes) fault(std::string(name()) + " has an operand of another size");
  return operands_[number].address;
}

std::int64_t Instruction::integer(std::size_t argument) const {
  const Argument& which = this->argument(argument);
  if (which.kind == Argument::Kind::immediate) return which.number;
  switch (width(which)) {
    case 1:
      return get<std::int8_t>(argument);
    case 2:
      return get<std::int16_t>(argument);
    case 8:
      return get<std::int64_t>(argument);
    default:
      return get<std::int32_t>(argument);
  }
}

void Instruction::set(std::size_t argument, std::uint64_t value) const {
  const Argument& which = this->argument(argument);
  if (which.kind == Argument::Kind::sink) return;
  const std::size_t bytes = width(which);
  std::memcpy(in_memory(argument, bytes), &value, std::min(bytes, sizeof value));
}

void execute(const Instruction& instruction) {
  using Execute = bool (*)(const Instruction&);
  struct Family {
    std::string_view name;
    Execute execute;
  };
  static constexpr std::array kFamilies{
      Family{"mma", execute_mma},           Family{"ldmatrix", execute_matrices},
      Family{"stmatrix", execute_matrices}, Family{"cp", execute_cp_async},
      Family{"fence", execute_fence},       Family{"prefetch", execute_bulk},
      Family{"mbarrier", execute_mbarrier}, Family{"mapa", execute_cluster},
      Family{"barrier", execute_cluster},   Family{"bar", execute_block},
      Family{"setmaxnreg", execute_block},  Family{"ld", execute_shared},
      Family{"st", execute_shared},         Family{"griddepcontrol", execute_cluster},
  };
  const auto* const family = std::ranges::find(kFamilies, instruction.part(0), &Family::name);
  const Execute run = family != kFamilies.end() ? family->execute : execute_scalar;
  if (!run(instruction)) throw NotEmulated(std::string(instruction.name()));
}

}  // namespace ridgebench::emulator
