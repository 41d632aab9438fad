// Shared memory of the other blocks of a cluster. Source: PTX ISA, "mapa" and state space
// ".shared::cluster".
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/cuda/ptx/shared_address.cuh"

namespace ridgebench::cuda {

// What lies at the same place as `own` in the shared memory of block number `rank`.
__device__ inline float ld_shared_cluster(const float* own, unsigned rank) {
  std::uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(shared_address(own)), "r"(rank));
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(remote) : "memory");
  return value;
}

}  // namespace ridgebench::cuda
