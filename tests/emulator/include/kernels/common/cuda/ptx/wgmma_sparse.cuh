// Replaces the kernels' header of this name, as wgmma.cuh beside it does.
#pragma once

#include "kernels/common/cuda/ptx/sparse.hpp"
#include "kernels/common/cuda/ptx/wgmma.cuh"

namespace ridgebench::cuda {

inline constexpr bool kWgmmaServesSparse = true;

template <class T>
void wgmma_mma_async_sparse(WgmmaAccumulators<256>& d, std::uint64_t a, std::uint64_t b,
                            bool scale_d,
                            const std::source_location& where = std::source_location::current()) {
  static_assert(sizeof(T) <= 2);
  emulator::wgmma_multiply({.a_format = T::format,
                            .b_format = T::format,
                            .columns = 256,
                            .across_a = false,
                            .across_b = false,
                            .a = a,
                            .b = b,
                            .add = scale_d,
                            .sums = d,
                            .metadata = kSparseMetadata},
                           where);
}

}  // namespace ridgebench::cuda
