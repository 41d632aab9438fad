// TMA, the copy engine of compute capability 9.0: one thread asks for a box of a matrix, the engine
// computes all addresses, fills with zeros what lies outside the matrix, and signals a barrier with
// the bytes of the whole box; on the way back it drops what lies outside. Source: PTX ISA,
// "cp.async.bulk.tensor". A box is described by a tensor map (tensor_map.cuh), its place by the
// coordinates of its first element: `along` the rows' direction and the number of the `row`.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/cuda/ptx/mbarrier.cuh"
#include "kernels/common/cuda/ptx/shared_address.cuh"

namespace ridgebench::cuda {

// A kernel's parameter of this type must be `const __grid_constant__`.
using TensorMap = CUtensorMap;

__device__ inline void prefetch_tensormap(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Starts to load a box; `barrier` gets its bytes.
__device__ inline void tma_load_2d(void* shared, const TensorMap& map, int along, int row,
                                   Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(shared)),
      "l"(&map), "r"(along), "r"(row), "r"(shared_address(&barrier))
      : "memory");
}

// The same into the blocks of the cluster that `mask` names, one bit each: to the same place in
// the shared memory of each, and its bytes to the same barrier of each.
__device__ inline void tma_load_2d_multicast(unsigned mask, void* shared, const TensorMap& map,
                                             int along, int row, Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(shared)),
      "l"(&map), "r"(along), "r"(row), "r"(shared_address(&barrier)),
      "h"(static_cast<std::uint16_t>(mask))
      : "memory");
}

// Every thread that wrote what TMA or wgmma will read, before a barrier lets it be read.
__device__ inline void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Starts to store a box. The thread that does must close the group and wait for it.
__device__ inline void tma_store_2d(const TensorMap& map, int along, int row, const void* shared) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
          &map),
      "r"(along), "r"(row), "r"(shared_address(shared))
      : "memory");
}

__device__ inline void cp_async_bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until at most the `kPending` newest groups of this thread still read shared memory.
template <int kPending>
__device__ void cp_async_bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Waits until all its groups are done.
__device__ inline void cp_async_bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace ridgebench::cuda
