// The instruction by which the tensor cores of a compute capability reach their full rate. Sources:
// PTX ISA, "mma.sync", "wgmma.mma_async" and "tcgen05.mma" with their target architectures; on a
// GPU with a later one of the three, mma.sync reaches a part of the rate (arXiv 2402.13499
// for 9.0).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/common/machine.hpp"

namespace ridgebench {

// Empty without tensor cores that this project supports.
constexpr std::string_view tensor_instruction(const Machine& machine) {
  switch (machine.compute_capability / 10) {
    case 8:
    case 12:
      return "mma.sync";
    case 9:
      return "wgmma";
    case 10:
    case 11:
      return "tcgen05";
    default:
      return "";
  }
}

// Why no ceiling gives a roof of the tensor cores of a GPU; empty if one does, and on a host.
inline std::optional<std::string> no_tensor_roof(const Machine& machine) {
  const int capability = machine.compute_capability;
  const std::string_view instruction = tensor_instruction(machine);
  if (capability == 0 || instruction == "mma.sync" || instruction == "wgmma") return std::nullopt;
  std::string reason = "no ceiling here reaches the tensor cores of compute capability ";
  reason += std::to_string(capability / 10) + '.' + std::to_string(capability % 10);
  if (!instruction.empty()) (reason += ", which ") += std::string(instruction) + " drives";
  return reason;
}

}  // namespace ridgebench
