// Instructions that move data between shared memory, registers and global memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace ridgebench::cuda {

// The 32-bit address that PTX instructions take for shared memory.
__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// Reads a pointer in global memory. The compiler, which does not know the memory that such a
// pointer leads to, would load by the slower instruction that tells memories apart.
template <class T>
__device__ const T* ld_global(const T* const* address) {
  const T* value;
  asm volatile("ld.global.u64 %0, [%1];" : "=l"(value) : "l"(address));
  return value;
}

// cp.async copies from global to shared memory without registers, while the thread goes on. Source:
// PTX ISA, "cp.async". Compiled for a device before compute capability 8.0, the thread itself
// copies.
//
// Starts a copy of 16 bytes; both addresses must be aligned to 16 bytes. Unless `inside`, the copy
// reads nothing and writes zeros.
__device__ inline void cp_async_zfill(void* shared, const void* global, bool inside) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  *static_cast<uint4*>(shared) = inside ? *static_cast<const uint4*>(global) : uint4{};
#else
  const std::uint32_t target = shared_address(shared);
  const int bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(global),
               "r"(bytes)
               : "memory");
#endif
}

// Closes the group of the copies that this thread started since the last call.
__device__ inline void cp_async_commit_group() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most the kPending newest groups of this thread are in flight. Other threads see
// the copies after the next __syncthreads().
template <int kPending>
__device__ void cp_async_wait_group() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

// ldmatrix: a warp reads four 8 x 8 matrices of 16-bit elements into the fragments of mma.sync
// (mma.cuh). Lane l gives the address of row l % 8 of matrix l / 8, 16 bytes aligned to 16. Word i
// of lane l then holds row l / 4 and columns 2 (l % 4), 2 (l % 4) + 1 of matrix i, the first in the
// low half; transposed, column l / 4 and rows 2 (l % 4), 2 (l % 4) + 1. A row can also hold four
// 32-bit or sixteen 8-bit elements: untransposed, the instruction only moves words. Eight rows are
// read without bank conflicts where their addresses modulo 128 differ. Source: PTX ISA, "ldmatrix".
// All lanes of the warp must call it.
template <bool kTransposed = false>
__device__ void ldmatrix_x4(std::uint32_t (&word)[4], std::uint32_t row) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(row)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(row)
                 : "memory");
  }
}
template <bool kTransposed>
__device__ void ldmatrix_x4(std::uint32_t (&word)[4], const void* row) {
  ldmatrix_x4<kTransposed>(word, shared_address(row));
}

// stmatrix, the inverse of the untransposed ldmatrix; wgmma's accumulators have this fragment
// layout. Source: PTX ISA, "stmatrix". From compute capability 9.0. All lanes must call it.
__device__ inline void stmatrix_x4(void* row, const std::uint32_t (&word)[4]) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(shared_address(row)),
      "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
      : "memory");
}

// The shared::cluster address of the object in block `rank` of the cluster that lies at the same
// offset as `own` in this block. Source: PTX ISA, "mapa".
__device__ inline std::uint32_t mapa(const void* own, unsigned rank) {
  std::uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(shared_address(own)), "r"(rank));
  return remote;
}

// The same as a pointer, which costs no instruction to form an address from.
__device__ inline const std::byte* mapa_generic(const std::byte* own, unsigned rank) {
  const std::byte* remote;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(remote) : "l"(own), "r"(rank));
  return remote;
}

// Reads the four numbers of block `rank` that lie at the same offset as `own`.
__device__ inline float4 ld_shared_cluster(const float4* own, unsigned rank) {
  const std::uint32_t remote = mapa(own, rank);
  float4 value;
  asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "r"(remote)
               : "memory");
  return value;
}

}  // namespace ridgebench::cuda
