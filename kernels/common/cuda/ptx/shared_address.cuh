// The address of shared memory as PTX instructions take it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace ridgebench::cuda {

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

}  // namespace ridgebench::cuda
