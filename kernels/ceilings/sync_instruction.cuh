// mma.sync on the tile of the ceilings beside it, in every format that Mma has.
#pragma once

#include "kernels/ceilings/repeated_mma.cuh"
#include "kernels/common/cuda/ptx/mma.cuh"

namespace ridgebench::cuda {

template <class T>
struct SyncInstruction : MmaShape<std::uint32_t, float> {
  static constexpr int kSteps = static_cast<int>(kTensorTile.k) / Mma<T>::kK;
  static __device__ void multiply_add(float (&d)[4], const std::uint32_t (&a)[4],
                                      const std::uint32_t (&b)[2]) {
    Mma<T>::multiply_add(d, a, b);
  }
};

}  // namespace ridgebench::cuda
