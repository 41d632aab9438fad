// An operand of a product as TMA loads it, in units (kernels/common/cuda/unit.hpp).
#pragma once

#include "kernels/common/cuda/ptx/mbarrier.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/cuda/tensor_map.cuh"
#include "kernels/common/cuda/unit.hpp"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda {

// How TMA finds the units of an operand.
template <class T>
TensorMap unit_map(const MatrixOperand<T>& x) {
  const bool along_k = x.is_k_major();
  return tensor_map(x.data, along_k ? x.mn : x.k, along_k ? x.k : x.mn, kUnitLines,
                    kLineBytes / static_cast<int>(sizeof(T)), Swizzle::bytes_128);
}

// Where the unit of the vectors from `vector` on at k is, in the terms of tma.cuh.
struct UnitPlace {
  int along, row;
};
template <bool kAlongK>
__device__ UnitPlace unit_place(int vector, int k) {
  return kAlongK ? UnitPlace{k, vector} : UnitPlace{vector, k};
}

// Starts to load kUnits units of the vectors from `vector` on.
template <bool kAlongK, int kUnits>
__device__ void load_units(std::byte* units, const TensorMap& map, int vector, int k,
                           Barrier& full) {
  for (int u = 0; u < kUnits; ++u) {
    const auto [along, row] = unit_place<kAlongK>(vector + u * kUnitLines, k);
    tma_load_2d(units + u * kUnitBytes, map, along, row, full);
  }
}

// The same for all `size` blocks of a cluster by all of them: this one, number `rank`, loads its
// part for every block.
template <bool kAlongK, int kUnits>
__device__ void load_shared_units(std::byte* units, const TensorMap& map, int vector, int k,
                                  Barrier& full, unsigned rank, unsigned size) {
  for (unsigned u = rank; u < kUnits; u += size) {
    const auto [along, row] = unit_place<kAlongK>(vector + static_cast<int>(u) * kUnitLines, k);
    tma_load_2d_multicast((1U << size) - 1, units + u * kUnitBytes, map, along, row, full);
  }
}

}  // namespace ridgebench::cuda
