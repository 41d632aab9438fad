// Functions of CUB that older toolkits lack: their rows are skipped with the reason.
#pragma once

#include <optional>
#include <string>

namespace ridgebench::cuda {

struct CubFunction {
  const char* name;
  int since;            // CUB_VERSION of the first CUB that has it
  const char* toolkit;  // the first CUDA with that CUB
};

// Source: cub/version.cuh and cub/device of the toolkits 12.0 to 13.0.
inline constexpr CubFunction kCubTransformReduce{"DeviceReduce::TransformReduce", 200400, "12.5"};
inline constexpr CubFunction kCubTransform{"DeviceTransform", 200800, "12.9"};

// Why a CUB of this CUB_VERSION (200302 for 2.3.2; 0: there is none) cannot serve the function.
inline std::optional<std::string> cub_lacks(const CubFunction& function, int version) {
  if (version >= function.since) return std::nullopt;
  if (version == 0) return "built without CUB";
  return "CUB " + std::to_string(version / 100000) + "." + std::to_string(version / 100 % 1000) +
         "." + std::to_string(version % 100) + " has no " + function.name + "; that of CUDA " +
         function.toolkit + " has";
}

}  // namespace ridgebench::cuda
